import SyncProtocol
import Synchronization
import TestSupport
import Transport

/// One connection of the simulated network: messages arrive later and in order, or not at all.
final class SimulatedLink: Sendable {
    enum Side: Int, CaseIterable, Sendable {
        case client, server

        var other: Side { self == .client ? .server : .client }
    }

    /// The incoming messages of one side.
    fileprivate struct Inbox {
        var messages: [[UInt8]] = []
        /// Messages that are sent and not yet received take up room.
        var taken = 0
        var end: TransportError??
        var nextArrival = Duration.zero
        var reader: CheckedContinuation<Void, Never>?
        /// In place of a reader that does not wait.
        var wake: (@Sendable () -> Void)?
        var writers: [CheckedContinuation<Void, Never>] = []
    }

    fileprivate struct State {
        var inboxes = [Inbox(), Inbox()]
        /// Nothing arrives any more, and neither side is told.
        var isMute = false
        var random: SplitMix64
        let latency: ClosedRange<Int>
    }

    private static let capacity = 16

    private let time: VirtualTime
    private let subProtocol: String
    private let state: Mutex<State>

    /// `latency` in milliseconds.
    init(
        _ time: VirtualTime,
        subProtocol: String,
        latency: ClosedRange<Int>,
        seed: UInt64
    ) {
        self.time = time
        self.subProtocol = subProtocol
        self.state = Mutex(State(random: SplitMix64(seed: seed), latency: latency))
    }

    func stream(_ side: Side) -> Stream {
        Stream(link: self, side: side, subProtocol: subProtocol)
    }

    struct Stream: MessageStream {
        let link: SimulatedLink
        let side: Side
        let subProtocol: String?

        func receive() async throws(TransportError) -> [UInt8]? {
            try await link.receive(at: side)
        }

        func isReceivable(orWake wake: @escaping @Sendable () -> Void) -> Bool {
            link.isReceivable(at: side, orWake: wake)
        }

        func send(_ message: [UInt8]) async throws(TransportError) {
            try await link.send(message, from: side)
        }

        func close(_ code: CloseCode, reason: String) async {
            link.close(side, telling: code == .normal ? nil : .closed(code, reason: reason))
        }
    }

    // MARK: Faults

    /// The network drops messages in transit; the given sides learn of it, the others do not.
    func cut(telling sides: [Side]) {
        state.withLock { $0.isMute = true }
        for side in sides { end(side, .lost(reason: "the network broke")) }
    }

    /// A side has closed its stream.
    func close(_ side: Side, telling error: TransportError? = .lost(reason: "the peer is gone")) {
        end(side, .lost(reason: "closed here"))
        deliver(to: side.other) { inbox in inbox.end = inbox.end ?? .some(error) }
    }

    private func end(_ side: Side, _ error: TransportError) {
        let woken = state.withLock { state -> (Waiters, Wake?) in
            guard state[side].end == nil else { return ([], nil) }
            state[side].end = .some(error)
            return (state.takeWaiters(of: side), state.takeWake(of: side))
        }
        woken.0.resume()
        woken.1?()
    }

    private typealias Waiters = [CheckedContinuation<Void, Never>]
    fileprivate typealias Wake = @Sendable () -> Void

    // MARK: Messages

    private func send(_ message: [UInt8], from side: Side) async throws(TransportError) {
        while true {
            let isDone = state.withLock { state -> Bool? in
                if state[side].end != nil { return false }
                guard state[side.other].taken < Self.capacity else { return nil }
                state[side.other].taken += 1
                return true
            }
            switch isDone {
            case true?: return deliver(to: side.other) { $0.messages.append(message) }
            case false?: throw .lost(reason: "the connection has ended")
            case nil: await waitForRoom(side)
            }
            if Task.isCancelled { throw .lost(reason: "cancelled") }
        }
    }

    private func deliver(
        to side: Side,
        _ change: @escaping @Sendable (inout Inbox) -> Void
    ) {
        let moment = state.withLock { state in
            let delay = Duration.milliseconds(
                Int.random(in: state.latency, using: &state.random)
            )
            state[side].nextArrival = max(state[side].nextArrival, time.now + delay)
            return state[side].nextArrival
        }
        time.at(moment) {
            let woken = self.state.withLock { state -> (Waiters, Wake?) in
                guard !state.isMute, state[side].end == nil else { return ([], nil) }
                change(&state[side])
                return (state.takeWaiters(of: side), state.takeWake(of: side))
            }
            woken.0.resume()
            woken.1?()
        }
    }

    private func isReceivable(at side: Side, orWake wake: @escaping Wake) -> Bool {
        state.withLock { state in
            let isReceivable = !state[side].messages.isEmpty || state[side].end != nil
            state[side].wake = isReceivable ? nil : wake
            return isReceivable
        }
    }

    private func receive(at side: Side) async throws(TransportError) -> [UInt8]? {
        while !Task.isCancelled {
            let next = state.withLock { state -> (message: [UInt8]?, end: TransportError??) in
                guard !state[side].messages.isEmpty else { return (nil, state[side].end) }
                state[side].taken -= 1
                return (state[side].messages.removeFirst(), nil)
            }
            if let message = next.message {
                state.withLock { $0.takeWriters(to: side) }.resume()
                return message
            }
            switch next.end {
            case .some(let error?): throw error
            case .some(nil): return nil
            case nil: await waitForMessage(side)
            }
        }
        return nil
    }

    // MARK: Waiting

    private func waitForMessage(_ side: Side) async {
        await wait { state, continuation in
            guard state[side].messages.isEmpty, state[side].end == nil else { return false }
            state[side].reader = continuation
            return true
        } onCancel: { state in
            state.takeReader(of: side)
        }
    }

    private func waitForRoom(_ side: Side) async {
        await wait { state, continuation in
            guard state[side].end == nil, state[side.other].taken >= Self.capacity else {
                return false
            }
            state[side.other].writers.append(continuation)
            return true
        } onCancel: { state in
            state.takeWriters(to: side.other)
        }
    }

    private func wait(
        _ enlist: (inout sending State, CheckedContinuation<Void, Never>) -> Bool,
        onCancel: @escaping @Sendable (inout sending State) -> [CheckedContinuation<Void, Never>]
    ) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isWaiting = state.withLock { state in
                    !Task.isCancelled && enlist(&state, continuation)
                }
                if !isWaiting { continuation.resume() }
            }
        } onCancel: {
            state.withLock { onCancel(&$0) }.resume()
        }
    }
}

extension SimulatedLink.State {
    fileprivate subscript(side: SimulatedLink.Side) -> SimulatedLink.Inbox {
        get { inboxes[side.rawValue] }
        set { inboxes[side.rawValue] = newValue }
    }

    fileprivate mutating func takeReader(
        of side: SimulatedLink.Side
    ) -> [CheckedContinuation<Void, Never>] {
        defer { self[side].reader = nil }
        return self[side].reader.map { [$0] } ?? []
    }

    fileprivate mutating func takeWake(of side: SimulatedLink.Side) -> SimulatedLink.Wake? {
        defer { self[side].wake = nil }
        return self[side].wake
    }

    fileprivate mutating func takeWriters(
        to side: SimulatedLink.Side
    ) -> [CheckedContinuation<Void, Never>] {
        defer { self[side].writers = [] }
        return self[side].writers
    }

    /// The tasks that receive at a side, and that send from it.
    fileprivate mutating func takeWaiters(
        of side: SimulatedLink.Side
    ) -> [CheckedContinuation<Void, Never>] {
        takeReader(of: side) + takeWriters(to: side.other)
    }
}

extension [CheckedContinuation<Void, Never>] {
    fileprivate func resume() {
        for continuation in self { continuation.resume() }
    }
}
