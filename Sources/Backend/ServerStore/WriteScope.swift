package import Scopes

/// The part of the store that a write is about. A store of several processes locks no more than
/// that: writes of different files run side by side (server on PostgreSQL, 2). One with a single
/// writer ignores it.
package enum WriteScope: Hashable, Sendable {
    /// One server file, with its history, documents and client files.
    case file(ServerFileID)
    /// The server file of a partition, which the write may create.
    case partition(AppID, Partition)
    /// Users, accounts, keys and log-ins of an app; no server file.
    case accounts(AppID)
    /// An app as a whole: its record, or several of its server files.
    case app(AppID)
}
