import Coordination
package import NIOCore
import Synchronization

/// Room for large incoming messages, over all connections of a server: each claims its room before
/// the rest of its message is read, and returns it once the message is taken.
///
/// Claims that do not fit wait, and their users are served in turn. A waiting claim may press: then
/// the connection that has held its room longest is closed, if that was too long.
package final class IncomingBudget: Sendable {
    /// Names a claim.
    struct ClaimID: Hashable, Comparable {
        fileprivate let number: UInt64

        static func < (left: ClaimID, right: ClaimID) -> Bool { left.number < right.number }
    }

    /// A connection's claim on the room.
    struct Claim: Sendable {
        let sizeInBytes: Int
        /// Claims of different users are served in turn.
        let user: String
        /// Called once there is room, on any thread.
        let grant: @Sendable () -> Void
        /// Called when others need the room and this one has held it for too long, on any thread.
        let evict: @Sendable () -> Void
    }

    private struct Holding {
        let claim: Claim
        let since: NIODeadline
    }

    private struct State {
        var usedBytes = 0
        var nextNumber: UInt64 = 0
        var holdings: [ClaimID: Holding] = [:]
        var waiting: [ClaimID: Claim] = [:]
        /// Those of `waiting`, and some that no longer wait.
        var queue = FairQueue<String, ClaimID>()
        /// The claim whose turn it is.
        var first: ClaimID?
    }

    private let limit: Int
    private let holdLimit: TimeAmount
    private let state = Mutex(State())

    /// - Parameter holdLimit: how long room may be held while others wait for it.
    package init(limitInBytes limit: Int, holdLimit: TimeAmount = .seconds(30)) {
        self.limit = limit
        self.holdLimit = holdLimit
    }

    /// The bytes of room in use.
    package var usedBytes: Int { state.withLock { $0.usedBytes } }

    /// True if there is room at once; otherwise `grant` is called later.
    func add(_ claim: Claim, at now: NIODeadline) -> (id: ClaimID, isGranted: Bool) {
        state.withLock { state in
            let id = ClaimID(number: state.nextNumber)
            state.nextNumber += 1
            guard state.waiting.isEmpty, fits(claim, state) else {
                state.waiting[id] = claim
                _ = state.queue.append(id, from: claim.user)
                return (id, false)
            }
            hold(claim, id, at: now, &state)
            return (id, true)
        }
    }

    /// Returns the room, or stops waiting for it.
    func remove(_ id: ClaimID, at now: NIODeadline) {
        let granted = state.withLock { state in
            state.waiting[id] = nil
            if let holding = state.holdings.removeValue(forKey: id) {
                state.usedBytes -= holding.claim.sizeInBytes
            }
            return grantNext(at: now, &state)
        }
        for claim in granted { claim.grant() }
    }

    /// Called from time to time for a waiting claim.
    func press(at now: NIODeadline) {
        let evicted = state.withLock { state -> Claim? in
            guard !state.waiting.isEmpty,
                let oldest = state.holdings.min(by: { $0.key < $1.key })?.value,
                now - oldest.since > holdLimit
            else { return nil }
            return oldest.claim
        }
        evicted?.evict()
    }

    /// One claim is always granted, however large.
    private func fits(_ claim: Claim, _ state: State) -> Bool {
        state.holdings.isEmpty || claim.sizeInBytes <= limit - state.usedBytes
    }

    private func hold(
        _ claim: Claim,
        _ id: ClaimID,
        at now: NIODeadline,
        _ state: inout State
    ) {
        state.usedBytes += claim.sizeInBytes
        state.holdings[id] = Holding(claim: claim, since: now)
    }

    /// Serves waiting claims, in turn, up to the first that does not fit.
    private func grantNext(at now: NIODeadline, _ state: inout State) -> [Claim] {
        var granted: [Claim] = []
        while let id = state.first ?? state.queue.next() {
            state.first = id
            if let claim = state.waiting[id] {
                guard fits(claim, state) else { break }
                state.waiting[id] = nil
                hold(claim, id, at: now, &state)
                granted.append(claim)
            }
            state.first = nil
        }
        return granted
    }
}
