package import Versions

/// Finds out that the database went back behind what a session was told (server on PostgreSQL, 7.1).
///
/// A failover without the last commits, or a restored backup, lacks versions that clients know. Unless
/// that is noticed, histories diverge. So each transaction for a session first reads what the guard
/// compares.
package struct SessionGuard: Hashable, Sendable {
    package let client: ClientFileID
    /// The server file's generation at IDENT.
    package let generation: UInt64
    /// The latest version of the client's own that this session or an earlier one had integrated, whether
    /// the client knows it yet or not.
    package private(set) var clientVersion: ClientVersion
    /// The epoch that IDENT set.
    package let sessionEpoch: UInt64
    /// The newest server version that the client was told, with its salt; nil before the first.
    package private(set) var newest: SaltedServerVersion?

    package init(
        client: ClientFileID,
        generation: UInt64,
        clientVersion: ClientVersion,
        sessionEpoch: UInt64,
        newest: SaltedServerVersion?
    ) {
        self.client = client
        self.generation = generation
        self.clientVersion = clientVersion
        self.sessionEpoch = sessionEpoch
        self.newest = newest
    }

    /// Uploads up to a version of the client's own are integrated.
    package mutating func noteIntegrated(upTo version: ClientVersion) {
        clientVersion = max(clientVersion, version)
    }

    /// The client is about to be told that this is the newest version.
    package mutating func noteTold(_ version: SaltedServerVersion) {
        if version.version >= newest?.version ?? .zero { newest = version }
    }

    /// The session in the database, as it is now.
    package struct Stored: Hashable, Sendable {
        /// The server file's.
        package var generation: UInt64
        package var clientVersion: ClientVersion
        package var sessionEpoch: UInt64
        package var currentVersion: ServerVersion
        /// The version up to which the history was trimmed, with its salt.
        package var base: SaltedServerVersion
        /// The salt of the guard's newest version; nil if the history has no such version.
        package var newestSalt: Salt?

        package init(
            generation: UInt64,
            clientVersion: ClientVersion,
            sessionEpoch: UInt64,
            currentVersion: ServerVersion,
            base: SaltedServerVersion,
            newestSalt: Salt?
        ) {
            self.generation = generation
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

    /// A history that was begun again is not one that went back: the body finds out, and refuses.
    ///
    /// - Parameter stored: nil if the client file is not there.
    package func verdict(on stored: Stored?) -> Verdict {
        guard let stored else { return .changed(.clientFileIsGone) }
        guard stored.generation == generation else { return .unchanged }
        guard stored.sessionEpoch == sessionEpoch else { return .changed(.otherEpoch) }
        guard stored.clientVersion >= clientVersion else { return .changed(.lostUploads) }
        guard let newest, newest.version > ServerVersion(0) else { return .unchanged }
        guard newest.version <= stored.currentVersion else { return .changed(.lostVersions) }
        guard newest.version >= stored.base.version else { return .changed(.trimmed) }
        let salt = newest.version == stored.base.version ? stored.base.salt : stored.newestSalt
        return salt == newest.salt ? .unchanged : .changed(.otherHistory)
    }

    /// Throws `StoreError` of kind `.changed` unless the verdict is that nothing has.
    package func verify(_ stored: Stored?) throws(StoreError) {
        guard case .changed(let change) = verdict(on: stored) else { return }
        throw StoreError(
            .changed,
            "client file \(client.ident.rawValue) of server file \(client.file.rawValue): \(change.reason)"
        )
    }
}

extension SessionGuard.Change {
    fileprivate var reason: String {
        switch self {
        case .clientFileIsGone: "the store no longer has it"
        case .otherEpoch: "the store has another session of it"
        case .lostUploads: "the store lacks uploads that it had integrated"
        case .lostVersions: "the store lacks versions that the client knows"
        case .otherHistory: "the store has another history than the client"
        case .trimmed: "the store no longer has the newest version that the client knows"
        }
    }
}
