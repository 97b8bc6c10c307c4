import FoundationEssentials
import ServerStore
import SyncProtocol
import Versions

/// The form in which rejections wait in the store until their client has them.
extension RejectedChangeset {
    private struct Update: Codable {
        let table: String
        let key: String
        let reason: String
    }

    var recorded: RecordedRejection {
        let updates = updates.updates.map {
            Update(table: $0.className, key: $0.encodedKey, reason: $0.reason)
        }
        return RecordedRejection(
            compensatedAt: compensatedAt,
            clientVersion: self.updates.clientVersion,
            updates: (try? JSONEncoder().encode(updates)).map { Array($0) } ?? []
        )
    }

    /// Throws if the store is damaged.
    init(_ recorded: RecordedRejection, in file: ServerFileID) throws(StoreError) {
        guard let updates = try? JSONDecoder().decode([Update].self, from: Data(recorded.updates))
        else {
            throw StoreError(
                .unusable,
                "rejection \(recorded.compensatedAt.rawValue) of server file \(file.rawValue) is damaged"
            )
        }
        self.init(
            SessionFault.RejectedUpdates(
                clientVersion: recorded.clientVersion,
                updates: updates.map {
                    RejectedUpdate(className: $0.table, encodedKey: $0.key, reason: $0.reason)
                }
            ),
            compensatedAt: recorded.compensatedAt
        )
    }
}
