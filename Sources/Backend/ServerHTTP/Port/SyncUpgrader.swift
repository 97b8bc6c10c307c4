import NIOCore
import NIOHTTP1
import NIOWebSocket
import ServerStore
import Surroundings
import SyncProtocol
import Synchronization
import Transport

/// Upgrades one connection to a WebSocket if the gate admits it; keeps the reason of a refusal.
///
/// NIO's own upgrader drops a refused request without a response, so this one wraps it and keeps
/// the response.
final class SyncUpgrader: NIOTypedHTTPServerProtocolUpgrader {
    typealias UpgradeResult = ListenerChannel.Upgraded

    let supportedProtocol = "websocket"
    let requiredUpgradeHeaders: [String] = []

    private let gate: SyncGate
    private let limits: Limits
    private let proxies: TrustedProxies
    private let census: ConnectionCensus
    private let incoming: IncomingBudget
    private let clock: WallClock
    private let decision = Mutex<UpgradeDecision?>(nil)

    init(
        gate: SyncGate,
        limits: Limits,
        proxies: TrustedProxies,
        census: ConnectionCensus,
        incoming: IncomingBudget,
        clock: WallClock
    ) {
        self.gate = gate
        self.limits = limits
        self.proxies = proxies
        self.census = census
        self.incoming = incoming
        self.clock = clock
    }

    /// Set once an upgrade was refused.
    var rejection: UpgradeRejection? {
        decision.withLock {
            guard case .reject(let rejection) = $0 else { return nil }
            return rejection
        }
    }

    func buildUpgradeResponse(
        channel: any Channel,
        upgradeRequest: HTTPRequestHead,
        initialResponseHeaders: HTTPHeaders
    ) -> EventLoopFuture<HTTPHeaders> {
        webSocket.buildUpgradeResponse(
            channel: channel,
            upgradeRequest: upgradeRequest,
            initialResponseHeaders: initialResponseHeaders
        )
        .flatMapErrorThrowing { error in
            let malformed = UpgradeRejection(status: 400, text: "malformed WebSocket upgrade")
            self.decision.withLock { $0 = $0 ?? .reject(malformed) }
            throw error
        }
    }

    func upgrade(
        channel: any Channel,
        upgradeRequest: HTTPRequestHead
    ) -> EventLoopFuture<ListenerChannel.Upgraded> {
        webSocket.upgrade(channel: channel, upgradeRequest: upgradeRequest)
    }

    private var webSocket: NIOTypedWebSocketServerUpgrader<ListenerChannel.Upgraded> {
        NIOTypedWebSocketServerUpgrader(
            maxFrameSize: limits.messageSizeInBytes,
            shouldUpgrade: { channel, head in
                channel.eventLoop.makeFutureWithTask { await self.headers(for: head, channel) }
            },
            upgradePipelineHandler: { channel, _ in
                channel.eventLoop.makeCompletedFuture { try self.socket(on: channel) }
            }
        )
    }

    /// The headers of the response to an admitted request; nil to refuse it.
    private func headers(
        for head: HTTPRequestHead,
        _ channel: any Channel
    ) async -> HTTPHeaders? {
        var decision = await gate.decide(head)
        if case .accept(let user, _) = decision,
            !census.admit(places(of: user, head, channel), until: channel)
        {
            // It is transient, so a client must not treat it as final (wire protocol, 2.5).
            decision = .reject(
                UpgradeRejection(status: 503, text: "too many connections of this user or address")
            )
        }
        self.decision.withLock { [decision] in $0 = decision }
        switch decision {
        case .accept(_, let subProtocol):
            return ["Date": clock.httpDate, "Sec-WebSocket-Protocol": subProtocol.token]
        case .reject:
            return nil
        }
    }

    private func places(
        of user: ConnectedUser,
        _ head: HTTPRequestHead,
        _ channel: any Channel
    ) -> [ConnectionCensus.Place] {
        let peer = channel.remoteAddress?.ipAddress
        let place = ConnectionCensus.Place.user(user.app, user.id)
        // Others were counted by address when they connected.
        guard proxies.isProxy(peer) else { return [place] }
        let forwarded = head.headers["X-Forwarded-For"]
        return [place, .address(proxies.limitKey(of: peer, forwarded: forwarded))]
    }

    private func socket(on channel: any Channel) throws -> ListenerChannel.Upgraded {
        guard case .accept(let user, let subProtocol) = decision.withLock({ $0 }) else {
            preconditionFailure("only a request that was let in is upgraded")
        }
        let webSocket = try WebSocketStream.wrap(
            channel,
            role: .server,
            maximumMessageSizeInBytes: limits.messageSizeInBytes,
            within: IncomingShare(of: "\(user.app)/\(user.id)", in: incoming)
        )
        return .webSocket(SyncSocket(channel: webSocket, user: user, subProtocol: subProtocol))
    }
}
