import Changesets
import Permissions
import Schemas
import ServerStore
import Versions

/// The beginning of a view: what one bootstrap must bring its client (flexible sync, 7).
struct BootstrapPlan: Sendable {
    let file: ServerFileID
    let schema: RealmSchema
    /// The views that the client may have objects of. It has exactly the objects of the first one,
    /// unless an object is among the exceptions.
    let earlier: [ClientView]
    let view: ClientView
    /// Those of the user that the view is based on.
    let rights: UserRightsSignature
    /// The new view's own version: its client's cursor behind the bootstrap.
    let start: SaltedServerVersion
    let upload: UploadCursor
    let now: OriginTimestamp
    /// Objects that changed since the state that the bootstrap is read from.
    let exceptions: [Exception]

    struct Exception: Sendable {
        let object: ObjectReference
        /// As of the new view's version; nil if it does not exist.
        let document: [UInt8]?
        /// Whether the client has it, and keeps it; nil if its views decide.
        let stays: Bool?
    }

    /// The classes in which the views differ.
    var changedClasses: [ClassSchema] {
        schema.classes.filter { owner in
            !owner.isEmbedded && !owner.isAsymmetric
                && earlier.contains { !$0.isSame(as: view, owner.name) }
        }
    }

    var progress: SyncProgress {
        SyncProgress(
            latestServerVersion: start,
            download: DownloadCursor(
                serverVersion: start.version,
                lastIntegratedClientVersion: upload.clientVersion
            ),
            upload: upload
        )
    }
}
