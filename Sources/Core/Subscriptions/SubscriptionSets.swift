package import Versions

/// All subscription sets of a client file, and the transitions of their states (flexible sync, 2.3 and
/// 4).
///
/// The newest set whose bootstrap was applied is active; newer ones are pending or have failed, and older
/// ones are deleted.
package struct SubscriptionSets: Hashable, Sendable {
    /// By ascending version; never empty.
    package private(set) var sets: [SubscriptionSet]

    /// The sets of a new file: the empty version 0.
    package init(snapshotVersion: ClientVersion) {
        sets = [
            SubscriptionSet(version: .zero, snapshotVersion: snapshotVersion, subscriptions: [])
        ]
    }

    /// Nil if there is none, or two have the same version.
    package init?(stored sets: [SubscriptionSet]) {
        let sorted = sets.sorted { $0.version < $1.version }
        guard !sorted.isEmpty, Set(sorted.map(\.version)).count == sorted.count else { return nil }
        self.sets = sorted
    }

    package subscript(version: QueryVersion) -> SubscriptionSet? {
        sets.first { $0.version == version }
    }

    package var latest: SubscriptionSet { sets[sets.count - 1] }

    /// The newest set whose view is in the file. Before the first bootstrap it is the empty version 0.
    package var active: SubscriptionSet {
        sets.last { $0.state.isActive }
            ?? sets.first { $0.version == .zero }
            ?? SubscriptionSet(version: .zero, snapshotVersion: .zero, subscriptions: [])
    }

    /// The sets that the server still has to bootstrap, by ascending version.
    package var pending: [SubscriptionSet] {
        let active = active
        return sets.filter {
            $0.state.isPending && ($0.version > active.version || $0.version == .zero)
        }
    }

    /// Whether the active set waits for the answer to a MARK.
    package var isAwaitingMark: Bool { active.state == .awaitingMark }
}

// MARK: Transitions

extension SubscriptionSets {
    /// Adds a set as the latest.
    package mutating func commit(
        _ subscriptions: [Subscription],
        snapshotVersion: ClientVersion
    ) -> QueryVersion {
        let version = QueryVersion(latest.version.rawValue.adding(clamping: 1))
        sets.append(
            SubscriptionSet(
                version: version,
                snapshotVersion: snapshotVersion,
                subscriptions: subscriptions
            )
        )
        return version
    }

    /// The first message of a bootstrap arrives.
    package mutating func beginBootstrap(
        _ version: QueryVersion
    ) throws(SubscriptionViolation) {
        let position = try position(of: version)
        switch sets[position].state {
        // One bootstrap at a time: an earlier one that did not finish begins again.
        case .pending, .bootstrapping:
            cancelBootstraps()
            sets[position].state = .bootstrapping
        case .awaitingMark, .complete: cancelBootstraps()
        case .failed(let text): throw .bootstrapOfFailedSet(version, text)
        }
    }

    /// The bootstrap is applied: the set becomes active, and older ones are deleted. One that was active
    /// before stays as it is.
    package mutating func completeBootstrap(
        _ version: QueryVersion
    ) throws(SubscriptionViolation) {
        let position = try position(of: version)
        switch sets[position].state {
        case .pending, .bootstrapping:
            sets[position].state = .awaitingMark
            sets.removeFirst(position)
        case .awaitingMark, .complete: break
        case .failed(let text): throw .bootstrapOfFailedSet(version, text)
        }
    }

    /// A bootstrap that did not finish is deleted; its set is queried again.
    package mutating func cancelBootstraps() {
        for position in sets.indices where sets[position].state == .bootstrapping {
            sets[position].state = .pending
        }
    }

    /// The server rejects a set.
    package mutating func fail(
        _ version: QueryVersion,
        _ text: String
    ) throws(SubscriptionViolation) {
        let position = try position(of: version)
        guard sets[position].state != .complete else { throw .errorForCompleteSet(version) }
        sets[position].state = .failed(text)
    }

    /// A MARK is answered that was sent after the last bootstrap was applied.
    package mutating func markAnswered() {
        let version = active.version
        for position in sets.indices where sets[position].version == version {
            if sets[position].state == .awaitingMark { sets[position].state = .complete }
        }
    }

    /// A client reset has replaced the realm's state by that of the active set (client reset, 10).
    package mutating func reset(keepsPending: Bool) {
        var active = active
        active.state = .complete
        let newer = sets.filter { keepsPending && $0.version > active.version }
        sets = [active] + newer
        cancelBootstraps()
    }

    private func position(of version: QueryVersion) throws(SubscriptionViolation) -> Int {
        guard let position = sets.firstIndex(where: { $0.version == version }) else {
            throw .unknownVersion(version)
        }
        return position
    }
}

/// A message of the server that does not fit the state of a subscription set (flexible sync, 4).
package enum SubscriptionViolation: Error, Hashable, Sendable {
    case unknownVersion(QueryVersion)
    case bootstrapOfFailedSet(QueryVersion, String)
    case errorForCompleteSet(QueryVersion)
}

extension SubscriptionViolation: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unknownVersion(let version): "query version \(version.rawValue) is not stored"
        case .bootstrapOfFailedSet(let version, let text):
            "bootstrap of query version \(version.rawValue), which was rejected: \(text)"
        case .errorForCompleteSet(let version):
            "query version \(version.rawValue) was rejected after it was complete"
        }
    }
}
