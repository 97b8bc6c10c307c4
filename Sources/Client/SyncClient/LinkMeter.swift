import Coordination
import Scheduling
import SyncProtocol
import Transport

/// Measures the network path to the server on an open connection (interfaces, 4).
struct LinkMeter: Sendable {
    let mode: SyncMode
    let time: SyncTime
    let pongTimeout: Duration
    /// Receives the measurements; must not block.
    let measured: @Sendable (NetworkQuality.Reading) -> Void

    /// Interval between readings of the socket; a sleeping task costs an idle agent next to
    /// nothing.
    private static let sampling = Duration.seconds(5)

    /// Reads the kernel's measurements of the open connection, until the task is cancelled.
    func sample(_ stream: any MessageStream) async {
        var loss = SegmentLoss()
        var received: UInt64 = 0
        while let statistics = await stream.statistics() {
            // Without received data, the kernel has no new measurements either.
            if statistics.receivedSegments != received {
                received = statistics.receivedSegments
                let share = loss.share(
                    sent: statistics.sentSegments,
                    resent: statistics.resentSegments
                )
                measured(.sample(roundTrip: statistics.roundTrip, loss: share))
            }
            guard (try? await time.sleep(Self.sampling)) != nil else { return }
        }
        // An in-memory stream, or a closed socket: the end of the connection cancels this task too.
        await Signal().wait()
    }

    /// Exchanges one PING and PONG, and closes the connection.
    func probe(_ stream: any MessageStream) async throws {
        let (time, limit) = (time, pongTimeout)
        try await withThrowingTaskGroup { group in
            group.addTask { try await self.ping(over: stream) }
            group.addTask {
                try await time.sleep(limit)
                throw PongTimeout(reason: .pongTimedOut)
            }
            defer { group.cancelAll() }
            try await group.next()
        }
        await stream.close(.normal, reason: "")
    }

    private func ping(over stream: any MessageStream) async throws {
        let context = WireContext(mode: mode, limits: .client)
        let start = time.uptime()
        let ping = ClientMessage.Ping(timestampInMilliseconds: 0, roundTripInMilliseconds: 0)
        try await stream.send(ClientMessage.ping(ping).encoded())
        while let bytes = try await stream.receive() {
            guard case .pong = try ServerMessage(decoding: bytes, context: context) else {
                continue
            }
            let answered = time.uptime() - start
            // One reading: the socket's result must not offset the PING's.
            measured(.roundTrip(max(answered, await stream.statistics()?.roundTrip ?? .zero)))
            return
        }
        throw TransportError.lost(reason: "the server closed the connection")
    }
}
