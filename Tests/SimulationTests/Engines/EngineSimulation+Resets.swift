import SyncProtocol
import TestSupport
import Versions

@testable import ServerHTTP
@testable import ServerStore

/// The causes of client resets, and actions on them.
extension EngineSimulation {
    enum ResetHappening: Hashable, Sendable {
        /// An operator terminates sync, and enables it again.
        case terminate(afterSeconds: Int)
        /// The server expires a client as if it was away for too long.
        case expire(client: Int)
        case backUpServer
        case restoreServer(dying: Bool, afterSeconds: Int)
        case backUpClient(Int)
        case restoreClient(Int, inPlace: Bool, afterSeconds: Int)
        /// A user requests a reset, in a given mode.
        case byHand(client: Int, mode: String)
    }

    static func resetHappening(
        clients: Int,
        using random: inout SplitMix64
    ) -> [ResetHappening] {
        let client = Int.random(in: 0..<clients, using: &random)
        let seconds = Int.random(in: 0...15, using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1: return [.terminate(afterSeconds: seconds)]
        case 2, 3: return [.expire(client: client)]
        case 4:
            return [.backUpServer, .restoreServer(dying: seconds % 2 == 0, afterSeconds: seconds)]
        case 5, 6:
            return [
                .backUpClient(client),
                .restoreClient(client, inPlace: seconds % 2 == 0, afterSeconds: seconds),
            ]
        default:
            let modes = [
                "recover-unsynced-changes", "recover-or-discard-unsynced-changes",
                "discard-unsynced-changes", "manual",
            ]
            return [.byHand(client: client, mode: modes[Int.random(in: 0..<4, using: &random)])]
        }
    }

    /// Carries it out; entries that it takes back are no longer expected anywhere.
    func carryOut(_ happening: ResetHappening, _ ledger: inout Ledger) async throws -> Later? {
        switch happening {
        case .terminate(let seconds):
            try await server.process?.admin.terminateSync(of: SimulatedServerMachine.app)
            return insist(after: seconds) { try await self.server.process?.enableSync() }
        case .expire(let client):
            guard let ident = try machines[client].fileIdent() else { return nil }
            try await server.process?.expire(ident)
        case .backUpServer:
            try await server.backUp()
        case .restoreServer(let dying, let seconds):
            guard server.process != nil, let backup = server.backup else { return nil }
            network.abandonServer(isHeard: !dying)
            await server.stop(dying: dying)
            ledger.takeBack(from: try await server.lookInside(), to: backup.contents)
            try backup.copy.restore(to: server.path, .inPlace)
            return startServer(seconds)
        case .backUpClient(let client):
            try machines[client].backUp()
            ledger.remember(client)
        case .restoreClient(let client, let inPlace, let seconds):
            let machine = machines[client]
            guard machine.backup != nil else { return nil }
            await machine.stop()
            try machine.restore(inPlace ? .inPlace : .byAnother)
            ledger.takeBackWrites(of: client)
            return comeBack(client, seconds)
        case .byHand(let client, let mode):
            // It may have to wait for the network.
            return (.zero, { await self.machines[client].resetByHand(mode: mode) })
        }
        return nil
    }
}

extension SimulatedServerProcess {
    func enableSync() async throws {
        try await admin.setSyncState(.enabled, of: SimulatedServerMachine.app)
    }

    func expire(_ ident: FileIdent) async throws {
        try await store.write(.app(SimulatedServerMachine.app)) { transaction in
            for file in try transaction.files(of: SimulatedServerMachine.app) {
                guard var client = try transaction.clientFile(ident, in: file.id) else { continue }
                client.isExpired = true
                try transaction.put(client, in: file.id)
            }
        }
    }
}
