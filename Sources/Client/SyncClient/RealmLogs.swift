package import Logging

/// The loggers of one realm, by category (`docs/logs.md`).
package struct RealmLogs: Sendable {
    /// Messages and decisions of the session.
    package var session: Logger
    /// Changesets in both directions, by class and number of instructions.
    package var changesets: Logger
    /// Work on the realm's file: what was drained, integrated and checkpointed.
    package var storage: Logger

    package init(_ logger: (_ category: String) -> Logger) {
        self.session = logger("Sync.Client.Session")
        self.changesets = logger("Sync.Client.Changeset")
        self.storage = logger("Sync.Client.Storage")
    }

    /// The field in all of them.
    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { session[metadataKey: key] }
        set {
            session[metadataKey: key] = newValue
            changesets[metadataKey: key] = newValue
            storage[metadataKey: key] = newValue
        }
    }
}
