import Changesets
import SyncProtocol
import TestSupport
import Versions

/// A client file with the session that syncs it; one connection at a time.
final class SimulatedClient {
    let replica: ModelReplica
    var session: ClientSession
    /// The connection that the client considers open.
    var connection: Int?
    /// The connection is dead, and the client has not noticed yet.
    var isCutOff = false
    var lostAt: UInt64?
    /// When the last message arrives: none overtakes another.
    var deliversAt: UInt64 = 0

    init(number: Int) {
        replica = ModelReplica(number: number)
        session = ClientSession(
            ident: 1,
            path: "\"store-42\"",
            fileIdent: .none,
            progress: .zero,
            localVersion: replica.localVersion
        )
    }

    /// The server has all commits of the program, and no request is pending.
    var isQuiet: Bool {
        session.isIdentified && !session.awaitsDownloadCompletion && replica.historyCount == 0
    }

    func write(at time: UInt64, using random: inout SplitMix64) throws {
        try replica.write(at: time, using: &random)
        session.localVersionAvailable(replica.localVersion)
    }

    func messagesToSend() -> [ClientMessage] {
        var messages: [ClientMessage] = []
        while let step = session.nextStep() {
            switch step {
            case .send(let message):
                messages.append(message)
            case .scanUploads(let scan):
                session.uploadScanned(scan, replica.scanUploads(from: scan.cursor))
            }
        }
        return messages
    }

    func receive(_ bytes: [UInt8]) throws {
        let context = WireContext(mode: .partitionBased, limits: .client)
        let message = try ServerMessage(decoding: bytes, context: context)
        if case .logMessage = message { return }
        try carryOut(session.received(message))
    }

    private func carryOut(_ effects: [ClientSession.Effect]) throws {
        for effect in effects {
            switch effect {
            case .storeFileIdent(let ident):
                replica.storeFileIdent(ident)
                session.fileIdentStored(ident, localVersion: replica.localVersion)
            case .integrate(let download):
                try replica.integrate(download.changesets, progress: download.progress)
                try carryOut(
                    session.integrated(
                        download.part,
                        replica.progress,
                        localVersion: replica.localVersion
                    )
                )
            case .downloadCompleted, .log, .storeQueryError, .undoing:
                break
            case .suspend(let problem), .report(let problem):
                throw SessionSimulation.Failure.sessionError(problem.code)
            case .close(let violation):
                throw SessionSimulation.Failure.violation(violation)
            }
        }
    }
}
