package import Versions

/// Finds out that the database went back behind what a session was told (server on PostgreSQL, 7.1).
///
/// A failover without the last commits, or a restored backup, lacks versions that clients know. Unless
/// that is noticed, histories diverge. So the first pipeline of each transaction for a session
/// reads what the guard compares.
package struct SessionGuard: Hashable, Sendable {
    /// The latest version of the client's own that the server acknowledged.
    package var clientVersion: ClientVersion
    /// The epoch that IDENT set.
    package var sessionEpoch: Int64
    /// The newest server version that the client was told, with its salt; nil before the first.
    package var newest: SaltedServerVersion?

    package init(
        clientVersion: ClientVersion,
        sessionEpoch: Int64,
        newest: SaltedServerVersion?
    ) {
        self.clientVersion = clientVersion
        self.sessionEpoch = sessionEpoch
        self.newest = newest
    }

    /// The session in the database, as it is now.
    package struct Stored: Hashable, Sendable {
        package var clientVersion: ClientVersion
        package var sessionEpoch: Int64
        package var currentVersion: ServerVersion
        /// The version up to which the history was trimmed, with its salt.
        package var base: SaltedServerVersion
        /// The salt of the guard's newest version; nil if the history has no such version.
        package var newestSalt: Salt?

        package init(
            clientVersion: ClientVersion,
            sessionEpoch: Int64,
            currentVersion: ServerVersion,
            base: SaltedServerVersion,
            newestSalt: Salt?
        ) {
            self.clientVersion = clientVersion
            self.sessionEpoch = sessionEpoch
            self.currentVersion = currentVersion
            self.base = base
            self.newestSalt = newestSalt
        }
    }

    package enum Verdict: Hashable, Sendable {
        case unchanged
        case changed(Change)
    }

    package enum Change: Hashable, Sendable {
        /// The client file is not there any more.
        case clientFileIsGone
        /// Another connection has taken the client file over, or the database forgot this one.
        case otherEpoch
        /// The database forgot uploads that it had acknowledged.
        case lostUploads
        /// The database forgot versions that the client knows.
        case lostVersions
        /// The version has another salt: its number was used again.
        case otherHistory
        /// The version was trimmed: the client file expired, and nothing proves its history.
        case trimmed
    }

    /// - Parameter stored: nil if the client file is not there.
    package func verdict(on stored: Stored?) -> Verdict {
        guard let stored else { return .changed(.clientFileIsGone) }
        guard stored.sessionEpoch == sessionEpoch else { return .changed(.otherEpoch) }
        guard stored.clientVersion >= clientVersion else { return .changed(.lostUploads) }
        guard let newest, newest.version > ServerVersion(0) else { return .unchanged }
        guard newest.version <= stored.currentVersion else { return .changed(.lostVersions) }
        guard newest.version >= stored.base.version else { return .changed(.trimmed) }
        let salt = newest.version == stored.base.version ? stored.base.salt : stored.newestSalt
        return salt == newest.salt ? .unchanged : .changed(.otherHistory)
    }
}
