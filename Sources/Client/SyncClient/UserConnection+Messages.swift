import Coordination
import Logging
import SyncProtocol
import Transport

/// Sending and receiving on an open connection.
extension UserConnection {
    /// Runs one open connection until it ends.
    func carry(_ stream: any MessageStream) async throws {
        let agreed = try SubProtocol(answer: stream.subProtocol, for: mode)
        let isFastReconnect = machine.connected(at: time.uptime(), using: &random)
        pendingUnbinds = []
        lastReason = nil
        roundTrip = nil
        logger.notice("connected", metadata: ["protocol": "\(agreed.token)"])
        for realm in realmsInOrder { await realm.connected(isFastReconnect: isFastReconnect) }
        try await withThrowingTaskGroup { group in
            group.addTask { try await self.sendUntilClosed(on: stream) }
            group.addTask { try await self.receive(from: stream) }
            group.addTask { await self.measure(stream) }
            // When one of the three tasks ends, cancel the others.
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Sends until the connection ends. If sending fails first, waits for the receiving side to
    /// report the server's close code, which a failed send does not know.
    private func sendUntilClosed(on stream: any MessageStream) async throws {
        do {
            try await send(on: stream)
        } catch let error as TransportError {
            try await time.sleep(Self.closeCodeTimeout)
            throw error
        }
    }

    private static let closeCodeTimeout = Duration.seconds(5)

    /// Sends PINGs when due, otherwise one message per realm and round.
    private func send(on stream: any MessageStream) async throws {
        while !Task.isCancelled {
            switch await nextStep() {
            case .send(let message):
                logger.sent(message)
                try await stream.send(message.encoded())
            case .disconnect(.voluntary):
                return await stream.close(.normal, reason: "")
            case .disconnect(let reason):
                throw PongTimeout(reason: reason)
            case .connect:
                return
            case .wait(let moment):
                if try await !sendOneMessagePerRealm(on: stream) { await wait(until: moment) }
            }
        }
    }

    /// Returns whether a message was sent.
    private func sendOneMessagePerRealm(on stream: any MessageStream) async throws -> Bool {
        var hasSent = false
        for message in takePendingUnbinds() {
            try await stream.send(message.encoded())
            hasSent = true
        }
        isSendingUnbinds = false
        for realm in realmsInOrder {
            guard let message = await realm.nextMessage() else { continue }
            machine.sending(message)
            try await stream.send(message.encoded())
            hasSent = true
        }
        return hasSent
    }

    private func takePendingUnbinds() -> [ClientMessage] {
        isSendingUnbinds = !pendingUnbinds.isEmpty
        defer { pendingUnbinds = [] }
        return pendingUnbinds
    }

    /// Dispatches messages to their sessions in order of arrival.
    private func receive(from stream: any MessageStream) async throws {
        while let bytes = try await stream.receive() {
            try await receive(
                bytes.count < Self.decodedAsideFromBytes
                    ? Self.decode(bytes, mode) : Self.decodeAside(bytes, mode)
            )
        }
        throw TransportError.lost(reason: "the server closed the connection")
    }

    /// Larger messages take longer to inflate than to change threads.
    private static let decodedAsideFromBytes = 16 << 10

    private static nonisolated func decode(
        _ bytes: [UInt8],
        _ mode: SyncMode
    ) throws(ProtocolViolation) -> ServerMessage {
        do throws(WireError) {
            let context = WireContext(mode: mode, limits: .client)
            return try ServerMessage(decoding: bytes, context: context)
        } catch {
            throw .malformed(error)
        }
    }

    /// Runs off this actor, which sends PINGs meanwhile.
    @concurrent
    private static nonisolated func decodeAside(
        _ bytes: [UInt8],
        _ mode: SyncMode
    ) async throws(ProtocolViolation) -> ServerMessage {
        try decode(bytes, mode)
    }

    private func receive(_ message: ServerMessage) async throws {
        // The realm of a session logs the session's.
        if message.session == nil { logger.received(message) }
        switch machine.received(message, at: time.uptime(), using: &random) {
        case .deliver(let session, let message):
            // Drop messages for a realm that has left.
            guard let realm = realm(of: session) else { return }
            if let problem = try await realm.receive(message) {
                throw ReconnectRequired(problem: problem)
            }
            // While reading is on hold, a PONG may arrive unread.
            if await realm.isFull { await hold(for: realm) }
        case .log(let body):
            logger.log(body)
        case .alive:
            // Wake the send loop: it waits for the PONG deadline, but the next PING is due earlier.
            attention.raise()
            if let latest = machine.roundTrip { noteRoundTrip(latest) }
        case .failed(let problem):
            throw ServerReport(problem: problem)
        case .violation(let violation):
            throw violation
        }
    }

    /// Stops reading until the realm has room for more.
    private func hold(for realm: RealmClient) async {
        isHolding = true
        await realm.waitForRoom()
        isHolding = false
        machine.resumedReading(at: time.uptime())
        attention.raise()
    }
}
