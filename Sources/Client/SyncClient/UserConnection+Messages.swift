import Coordination
import Logging
import SyncProtocol
import Transport

/// What passes over an open connection.
extension UserConnection {
    /// Everything that happens on one open connection.
    func carry(_ stream: any MessageStream) async throws {
        let agreed = try SubProtocol(answer: stream.subProtocol, for: .partitionBased)
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
            // Whichever ends first ends the connection, and the other does not outlive it.
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Sends until the connection ends. Where that shows here first, the receiving side says why: a server
    /// closes with a code, of which a message that cannot be sent any more knows nothing.
    private func sendUntilClosed(on stream: any MessageStream) async throws {
        do {
            try await send(on: stream)
        } catch let error as TransportError {
            try await time.sleep(Self.closeCodePatience)
            throw error
        }
    }

    private static let closeCodePatience = Duration.seconds(5)

    /// Sends what is due, and gives every realm its turns, one message each.
    private func send(on stream: any MessageStream) async throws {
        while !Task.isCancelled {
            switch await nextStep() {
            case .send(let message):
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

    /// Whether anybody had something to say.
    private func sendOneMessagePerRealm(on stream: any MessageStream) async throws -> Bool {
        var hasSent = false
        for message in takeFarewells() {
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

    private func takeFarewells() -> [ClientMessage] {
        isSendingUnbinds = !pendingUnbinds.isEmpty
        defer { pendingUnbinds = [] }
        return pendingUnbinds
    }

    /// Hands every message to whom it concerns, in the order they come.
    private func receive(from stream: any MessageStream) async throws {
        while let bytes = try await stream.receive() {
            try await receive(
                bytes.count < Self.decodedAsideFromBytes
                    ? Self.decode(bytes) : Self.decodeAside(bytes)
            )
        }
        throw TransportError.lost(reason: "the server closed the connection")
    }

    /// What takes longer to inflate than a change of threads.
    private static let decodedAsideFromBytes = 16 << 10

    private static nonisolated func decode(_ bytes: [UInt8]) throws(ProtocolViolation)
        -> ServerMessage
    {
        do throws(WireError) {
            let context = WireContext(mode: .partitionBased, limits: .client)
            return try ServerMessage(decoding: bytes, context: context)
        } catch {
            throw .malformed(error)
        }
    }

    /// Away from this actor, which has PINGs to send meanwhile.
    @concurrent
    private static nonisolated func decodeAside(_ bytes: [UInt8]) async throws(ProtocolViolation)
        -> ServerMessage
    {
        try decode(bytes)
    }

    private func receive(_ message: ServerMessage) async throws {
        switch machine.received(message, at: time.uptime(), using: &random) {
        case .deliver(let session, let message):
            // A realm that has left takes no interest in what was under way to it.
            guard let realm = realm(of: session) else { return }
            if let problem = try await realm.receive(message) {
                throw ReconnectRequired(problem: problem)
            }
            // While the realm had enough to do, a PONG may have been waiting to be read.
            if await realm.isFull { await hold(for: realm) }
        case .log(let body):
            logger.log(body)
        case .alive:
            // The next PING is due sooner than this PONG was overdue.
            attention.raise()
            if let latest = machine.roundTrip { noteRoundTrip(latest) }
        case .failed(let problem):
            throw ServerReport(problem: problem)
        case .violation(let violation):
            throw violation
        }
    }

    /// Reads nothing until the realm has room for more.
    private func hold(for realm: RealmClient) async {
        isHolding = true
        await realm.waitForRoom()
        isHolding = false
        machine.resumedReading(at: time.uptime())
        attention.raise()
    }
}
