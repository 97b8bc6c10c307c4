import Changesets
import TestSupport
import Testing
import Versions

@testable import Subscriptions

/// The table of flexible sync, 4: every event in every state.
@Suite("States of subscription sets")
struct SubscriptionSetsTests {
    private static let states: [SubscriptionSetState] = [
        .pending, .bootstrapping, .awaitingMark, .complete, .failed("old"),
    ]

    /// Version 0 complete, and version 1 in a state.
    private static func sets(_ state: SubscriptionSetState) throws -> SubscriptionSets {
        func set(_ version: UInt64, _ state: SubscriptionSetState) -> SubscriptionSet {
            SubscriptionSet(
                version: QueryVersion(version),
                state: state,
                snapshotVersion: ClientVersion(version),
                subscriptions: []
            )
        }
        return try #require(SubscriptionSets(stored: [set(1, state), set(0, .complete)]))
    }

    private static let one = QueryVersion(1)

    private func outcome(
        _ state: SubscriptionSetState,
        _ event: (inout SubscriptionSets) throws -> Void
    ) throws -> String {
        var sets = try Self.sets(state)
        do {
            try event(&sets)
            return sets.sets.map { "\($0.version.rawValue) \($0.state)" }.joined(separator: ", ")
        } catch let violation as SubscriptionViolation {
            return "\(violation)"
        }
    }

    @Test("The first message of a bootstrap", arguments: states)
    func begin(state: SubscriptionSetState) throws {
        let result = try outcome(state) { try $0.beginBootstrap(Self.one) }
        let expected =
            switch state {
            case .pending, .bootstrapping: "0 complete, 1 bootstrapping"
            case .awaitingMark, .complete: "0 complete, 1 \(state)"
            case .failed: "bootstrap of query version 1, which was rejected: old"
            }
        #expect(result == expected)
    }

    @Test("The end of a bootstrap deletes older sets, unless its set was active", arguments: states)
    func complete(state: SubscriptionSetState) throws {
        let result = try outcome(state) { try $0.completeBootstrap(Self.one) }
        let expected =
            switch state {
            case .pending, .bootstrapping: "1 awaitingMark"
            case .awaitingMark, .complete: "0 complete, 1 \(state)"
            case .failed: "bootstrap of query version 1, which was rejected: old"
            }
        #expect(result == expected)
    }

    @Test("A rejection by the server", arguments: states)
    func fail(state: SubscriptionSetState) throws {
        let result = try outcome(state) { try $0.fail(Self.one, "no") }
        #expect(
            result
                == (state == .complete
                    ? "query version 1 was rejected after it was complete"
                    : "0 complete, 1 failed(\"no\")")
        )
    }

    @Test("The answer to a MARK completes the active set alone", arguments: states)
    func mark(state: SubscriptionSetState) throws {
        let result = try outcome(state) { $0.markAnswered() }
        let expected = state == .awaitingMark ? .complete : state
        #expect(result == "0 complete, 1 \(expected)")
    }

    @Test("A bootstrap that did not finish", arguments: states)
    func cancel(state: SubscriptionSetState) throws {
        let result = try outcome(state) { $0.cancelBootstraps() }
        let expected = state == .bootstrapping ? .pending : state
        #expect(result == "0 complete, 1 \(expected)")
    }

    @Test("A client reset keeps the active set, and pending ones if changes are recovered")
    func reset() throws {
        let kept = try outcome(.bootstrapping) { $0.reset(keepsPending: true) }
        #expect(kept == "0 complete, 1 pending")
        let discarded = try outcome(.bootstrapping) { $0.reset(keepsPending: false) }
        #expect(discarded == "0 complete")
        let active = try outcome(.awaitingMark) { $0.reset(keepsPending: false) }
        #expect(active == "1 complete")
    }

    @Test("Events about versions that are not stored")
    func unknown() throws {
        for event in [
            { (sets: inout SubscriptionSets) in try sets.beginBootstrap(QueryVersion(9)) },
            { try $0.completeBootstrap(QueryVersion(9)) }, { try $0.fail(QueryVersion(9), "") },
        ] {
            #expect(try outcome(.pending, event) == "query version 9 is not stored")
        }
    }

    @Test("A new file has the empty version 0; versions count on, and the newest applied is active")
    func versions() throws {
        var sets = SubscriptionSets(snapshotVersion: ClientVersion(1))
        #expect(sets.active.version == .zero && sets.latest.state == .pending)
        try sets.beginBootstrap(.zero)
        try sets.completeBootstrap(.zero)
        sets.markAnswered()
        for number in 1...3 as ClosedRange<UInt64> {
            let version = sets.commit([], snapshotVersion: ClientVersion(number))
            #expect(version == QueryVersion(number))
        }
        try sets.fail(QueryVersion(2), "no")
        #expect(sets.pending.map(\.version.rawValue) == [1, 3])
        #expect(sets.progress(of: .zero) == .complete)
        #expect(sets.progress(of: QueryVersion(2)) == .failed("no"))
        try sets.beginBootstrap(QueryVersion(3))
        try sets.completeBootstrap(QueryVersion(3))
        #expect(sets.sets.map(\.version.rawValue) == [3])
        #expect(sets.isAwaitingMark && sets.progress(of: QueryVersion(3)) == .pending)
        #expect(sets.progress(of: QueryVersion(1)) == .superseded)
        #expect(sets.progress(of: QueryVersion(4)) == nil)
    }
}
