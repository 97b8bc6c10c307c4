import Changesets
import Documents
import Schemas
import SyncProtocol
import Versions

/// A changeset with rejected writes, and the version that compensates them for its client (wire
/// protocol, 13.5).
struct RejectedChangeset: Hashable, Sendable {
    let updates: SessionFault.RejectedUpdates
    let compensatedAt: ServerVersion

    enum Reason: String {
        case notAllowed = "write not allowed"
        /// The write does not fit the server's state (sync history, 14.6).
        case misfit = "write does not fit the object"
        case tooLarge = "the object would be too large"
        /// The app's clients could crash (`sdk_safety`).
        case collectionInMixed = "lists and dictionaries in mixed properties are not allowed"

        init(_ problem: BadInstruction.Problem) {
            switch problem {
            case .objectTooLarge: self = .tooLarge
            case .collectionInMixed: self = .collectionInMixed
            default: self = .misfit
            }
        }
    }

    init(_ updates: SessionFault.RejectedUpdates, compensatedAt: ServerVersion) {
        self.updates = updates
        self.compensatedAt = compensatedAt
    }

    init(
        _ objects: [ObjectReference],
        in version: ClientVersion,
        compensatedAt: ServerVersion,
        because reason: Reason = .notAllowed
    ) {
        self.updates = SessionFault.RejectedUpdates(
            clientVersion: version,
            updates: objects.map {
                RejectedUpdate(
                    className: $0.className.description,
                    key: $0.key,
                    reason: reason.rawValue
                )
            }
        )
        self.compensatedAt = compensatedAt
    }
}

/// Undoes the writes of one changeset: erases every object that it touched, and recreates it in the
/// server's state.
struct Compensation {
    let objects: [ObjectReference]
    let changeset: [UInt8]

    /// Asymmetric objects are never sent to a client.
    init(of refused: Changeset, from store: FileObjects) throws {
        var writer = ChangesetWriter()
        self.objects = refused.objects
        for object in objects {
            guard let owner = store.schema[object.className], !owner.isEmbedded else {
                throw IntegrationRefusal.badChangeset(reason: "unknown class \(object.className)")
            }
            guard !owner.isAsymmetric else { continue }
            writer.eraseObject(object)
            guard let document = try store.document(for: object) else { continue }
            writer.writeObject(document, as: object, of: owner, in: store.schema)
        }
        self.changeset = writer.bytes
    }

    /// The objects that a version for one client corrects.
    static func objects(compensatedBy changeset: [UInt8]) -> [ObjectReference] {
        (try? Changeset(decoding: changeset))?.objects ?? []
    }
}
