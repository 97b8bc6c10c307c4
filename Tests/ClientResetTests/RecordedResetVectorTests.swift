import Changesets
import ClientReset
import Documents
import ScriptedPeers
import SyncProtocol
import TestSupport
import Testing
import Versions

/// The recorded conversation of a client that was reset and recovered a write
/// (`vectors/wire/partition_client_reset`).
@Suite("The recorded reset", .enabled(if: Vectors.areRequiredOrPresent, "no vectors here"))
struct RecordedResetVectorTests {
    /// The messages for the session of the fresh copy (2) and the restarted one (3).
    private struct Recording {
        var fresh = InMemoryRealm()
        var freshProgress = SyncProgress.zero
        var ident: ClientMessage.Ident?
        var recovered: [UploadChangeset] = []

        init() throws {
            for line in try WireScenario.named("partition_client_reset").binaryLines {
                switch line.dir {
                case .fromServer:
                    try take(ServerMessage(decoding: line.bytes, context: .partitionClient))
                case .fromClient:
                    try take(ClientMessage(decoding: line.bytes, context: .partitionServer))
                }
            }
        }

        private mutating func take(_ message: ServerMessage) throws {
            guard case .download(let download) = message, download.session == SessionIdent(2) else {
                return
            }
            for changeset in download.changesets {
                try fresh.apply(Changeset(decoding: changeset.bytes))
            }
            freshProgress = download.progress
        }

        private mutating func take(_ message: ClientMessage) throws {
            switch message {
            case .ident(let message) where message.session == SessionIdent(3): ident = message
            case .upload(let upload) where upload.session == SessionIdent(3):
                recovered += upload.changesets
            default: break
            }
        }
    }

    @Test("Recovering the reference's changes on its download gives its bytes")
    func bytes() throws {
        let recording = try Recording()
        var local = recording.fresh
        for upload in recording.recovered { try local.apply(Changeset(decoding: upload.bytes)) }
        var recovery = Recovery(fresh: recording.fresh, local: local)
        for upload in recording.recovered {
            let changeset = try Changeset(decoding: upload.bytes)
            #expect(try recovery.replay(changeset) == upload.bytes)
        }
        #expect(!recording.recovered.isEmpty)
        #expect(recovery.discarded.isEmpty)
        #expect(recording.fresh.applying(recovery.state) == local)
        print("recorded reset: \(recording.recovered.count) changesets recovered as recorded")
    }

    @Test("The cursors after the reset are those in the reference's IDENT")
    func cursors() throws {
        let recording = try Recording()
        let progress = HistoryRewrite.progress(afterFreshCopy: recording.freshProgress)
        #expect(progress.download == recording.ident?.download)
        #expect(progress.latestServerVersion == recording.ident?.latestServerVersion)
        let base = progress.upload.lastIntegratedServerVersion
        #expect(recording.recovered.allSatisfy { $0.cursor.lastIntegratedServerVersion == base })
    }
}
