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
        farewells = []
        lastReason = nil
        roundTrip = nil
        logger.notice("connected", metadata: ["protocol": "\(agreed.token)"])
        for realm in realmsInOrder { await realm.connected(isFastReconnect: isFastReconnect) }
        try await withThrowingTaskGroup { group in
            group.addTask { try await self.send(on: stream) }
            group.addTask { try await self.receive(from: stream) }
            group.addTask { await self.measure(stream) }
            // Whichever ends first ends the connection, and the other does not outlive it.
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Sends what is due, and gives every realm its turns, one message each.
    private func send(on stream: any MessageStream) async throws {
        while !Task.isCancelled {
            switch await nextStep() {
            case .send(let message):
                try await stream.send(message.encoded())
            case .disconnect(.voluntary):
                return await stream.close(.normal, reason: "")
            case .disconnect(let reason):
                throw OwnEnding(reason: reason)
            case .connect:
                return
            case .wait(let moment):
                if try await !giveTurns(on: stream) { await wait(until: moment) }
            }
        }
    }

    /// Whether anybody had something to say.
    private func giveTurns(on stream: any MessageStream) async throws -> Bool {
        var hasSent = false
        for message in takeFarewells() {
            try await stream.send(message.encoded())
            hasSent = true
        }
        farewellsUnderWay = false
        for realm in realmsInOrder {
            guard let message = await realm.nextMessage() else { continue }
            machine.sending(message)
            try await stream.send(message.encoded())
            hasSent = true
        }
        return hasSent
    }

    private func takeFarewells() -> [ClientMessage] {
        farewellsUnderWay = !farewells.isEmpty
        defer { farewells = [] }
        return farewells
    }

    /// Hands every message to whom it concerns, in the order they come.
    private func receive(from stream: any MessageStream) async throws {
        let context = WireContext(mode: .partitionBased, limits: .client)
        while let bytes = try await stream.receive() {
            let message: ServerMessage
            do throws(WireError) {
                message = try ServerMessage(decoding: bytes, context: context)
            } catch {
                throw ProtocolViolation.malformed(error)
            }
            try await receive(message)
        }
        throw TransportError.lost(reason: "the server closed the connection")
    }

    private func receive(_ message: ServerMessage) async throws {
        switch machine.received(message, at: time.uptime(), using: &random) {
        case .deliver(let session, let message):
            // A realm that has left takes no interest in what was under way to it.
            guard let problem = try await realm(of: session)?.receive(message) else { return }
            throw SessionConcern(problem: problem)
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
}
