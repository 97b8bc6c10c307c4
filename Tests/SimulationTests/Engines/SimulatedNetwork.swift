import SyncProtocol
import Synchronization
import TestSupport
import Transport

@testable import ServerStore

/// Everything between the clients' machines and the server's.
final class SimulatedNetwork: Sendable {
    private struct State {
        var links: [Int: [SimulatedLink]] = [:]
        var unplugged: Set<Int> = []
        var random: SplitMix64
        var connectionCount = 0
    }

    let time: VirtualTime
    private let server: SimulatedServerMachine
    private let now: @Sendable () -> Int64
    private let state: Mutex<State>

    init(
        _ time: VirtualTime,
        to server: SimulatedServerMachine,
        now: @escaping @Sendable () -> Int64,
        random: SplitMix64
    ) {
        self.time = time
        self.server = server
        self.now = now
        self.state = Mutex(State(random: random))
    }

    /// The number of connections opened so far.
    var connectionCount: Int { state.withLock { $0.connectionCount } }

    var hasServer: Bool { server.process != nil }

    func milliseconds(_ range: ClosedRange<Int>) -> Duration {
        .milliseconds(state.withLock { Int.random(in: range, using: &$0.random) })
    }

    func chance(_ percent: Int) -> Bool {
        state.withLock { Int.random(in: 0..<100, using: &$0.random) < percent }
    }

    // MARK: Faults

    /// Whether a client's machine is on the network. Messages in transit are lost; random sides
    /// learn of it.
    func plug(_ client: Int, isIn: Bool) {
        state.withLock { state in
            if isIn { state.unplugged.remove(client) } else { state.unplugged.insert(client) }
        }
        if !isIn { breakConnections(of: client) }
    }

    func isPlugged(_ client: Int) -> Bool {
        state.withLock { !$0.unplugged.contains(client) }
    }

    func breakConnections(of client: Int) {
        let sides = SimulatedLink.Side.allCases.filter { _ in chance(50) }
        for link in takeLinks(of: client) { link.cut(telling: sides) }
    }

    /// The client's process has ended: the server learns of it, except after a power failure.
    func abandon(_ client: Int, isHeard: Bool) {
        for link in takeLinks(of: client) { link.cut(telling: isHeard ? [.server] : []) }
    }

    /// The same for the server's process.
    func abandonServer(isHeard: Bool) {
        let clients = state.withLock { $0.links.keys.sorted() }
        for client in clients {
            for link in takeLinks(of: client) { link.cut(telling: isHeard ? [.client] : []) }
        }
    }

    private func takeLinks(of client: Int) -> [SimulatedLink] {
        state.withLock { $0.links.removeValue(forKey: client) ?? [] }
    }

    // MARK: Connections

    func withConnection(
        of client: Int,
        tokenExpiry: Int64,
        subProtocols: String,
        _ body: @escaping @Sendable (any MessageStream) async throws -> Void
    ) async throws {
        try await time.sleep(milliseconds(1...300))
        guard isPlugged(client) else {
            if chance(50) { throw TransportError.unreachable(reason: "no route") }
            try await time.sleep(.seconds(5))
            throw TransportError.connectTimeout
        }
        guard let process = server.process else {
            throw TransportError.unreachable(reason: "refused")
        }
        guard tokenExpiry > now() else {
            throw TransportError.rejected(.init(status: 401, body: "expired"))
        }
        let subProtocol = try SubProtocol(choosingFrom: [subProtocols])
        let isSlow = chance(20)
        let link = SimulatedLink(
            time,
            subProtocol: subProtocol.token,
            latency: isSlow ? 100...900 : 1...40,
            seed: state.withLock { $0.random.next() }
        )
        state.withLock { state in
            state.links[client, default: []].append(link)
            state.connectionCount += 1
        }
        let user = ConnectedUser(
            id: SimulatedServerMachine.user,
            app: SimulatedServerMachine.app,
            mustLeaveAt: tokenExpiry + SimulatedApp.tokenLifetimeInMilliseconds
        )
        process.accept(link, of: user, subProtocol)
        defer { link.close(.client) }
        try await body(link.stream(.client))
    }
}
