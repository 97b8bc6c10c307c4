import Coordination
import Scheduling
import SyncProtocol
import Transport

/// Measurements of the network path to the server (interfaces, 4).
extension UserConnection {
    /// Interval between readings of the socket; a sleeping task costs an idle agent next to
    /// nothing.
    private static let sampling = Duration.seconds(5)

    /// Reads the kernel's measurements of the open connection, until the task is cancelled.
    func measure(_ stream: any MessageStream) async {
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

    /// Smoothed as TCP does it, but with more weight: PINGs are rare.
    func noteRoundTrip(_ latest: Duration) {
        let smoothed = roundTrip.map { ($0 * 3 + latest) / 4 } ?? latest
        roundTrip = smoothed
        measured(.roundTrip(smoothed))
    }

    /// Only failures that a bad network can cause.
    func noteFailure(_ ending: ConnectionEnding) {
        guard !Task.isCancelled, case .failed(let reaction, _) = ending else { return }
        switch reaction.reason {
        case .connectFailed, .connectTimedOut, .lost, .pongTimedOut:
            measured(.failure)
        case .voluntary, .tlsFailed, .rejected, .badSubProtocol, .closed, .protocolViolation,
            .serverError:
            break
        }
    }

    func noteFailure(_ failure: EndpointFailure) {
        guard !Task.isCancelled, case .unavailable = failure else { return }
        measured(.failure)
    }

    /// Connects, exchanges one PING and PONG, and disconnects, so that there are readings while no
    /// realm may connect. Does nothing while there is a connection, which takes readings anyway.
    package func probe() async {
        guard !machine.isConnected, realmsInOrder.isEmpty else { return }
        do {
            let token = try await endpoint.token()
            noteFailure(await connected(token) { stream in try await self.probe(stream) })
        } catch {
            noteFailure(error)
        }
    }

    private func probe(_ stream: any MessageStream) async throws {
        let (time, limit) = (time, timing.pongTimeout)
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
