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
        inbox = Inbox()
        let alarm = Alarm(time)
        try await withThrowingTaskGroup { group in
            group.addTask { [attention] in await alarm.raise(attention) }
            group.addTask { try await self.sendUntilClosed(on: stream, alarm) }
            group.addTask { try await self.receive(from: stream) }
            group.addTask { try await self.deliver() }
            group.addTask { [linkMeter] in await linkMeter.sample(stream) }
            // When one of the five tasks ends, cancel the others.
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Sends until the connection ends. If sending fails first, waits for the receiving side to
    /// report the server's close code, which a failed send does not know.
    private func sendUntilClosed(on stream: any MessageStream, _ alarm: Alarm) async throws {
        do {
            try await send(on: stream, alarm)
        } catch let error as TransportError {
            try await time.sleep(Self.closeCodeTimeout)
            throw error
        }
    }

    private static let closeCodeTimeout = Duration.seconds(5)

    /// Sends PINGs when due, otherwise one message per realm with a turn and round.
    private func send(on stream: any MessageStream, _ alarm: Alarm) async throws {
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
                if try await sendOneMessagePerRealm(on: stream) { continue }
                // It raises the same signal.
                alarm.set(moment)
                await attention.wait()
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
        for session in turns.takeAll() {
            guard let message = await realm(of: session)?.nextMessage() else { continue }
            // It may have more to send.
            turns.add(session)
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

    /// Passes messages on until the connection ends.
    private func receive(from stream: any MessageStream) async throws {
        let ending = try await receiveAll(from: stream)
        // What the server sent before it closed the connection counts.
        while !inbox.isEmpty, !Task.isCancelled { await inboxShrunk.wait() }
        throw ending
    }

    private func receiveAll(from stream: any MessageStream) async throws -> TransportError {
        while true {
            let message: [UInt8]
            do throws(TransportError) {
                guard let bytes = try await stream.receive() else {
                    return .lost(reason: "the server closed the connection")
                }
                message = bytes
            } catch {
                return error
            }
            try await take(message)
            while isInboxFull, !Task.isCancelled { await hold() }
        }
    }

    private func take(_ bytes: [UInt8]) async throws {
        guard bytes.count < Inbox.largeMessageInBytes else {
            // The others need not wait while it is inflated.
            if let session = ServerMessage.sessionOfDownload(bytes) {
                return keep(bytes, for: session)
            }
            return try await receive(.decodedAside(bytes, mode))
        }
        let message = try ServerMessage.decoded(bytes, mode)
        if let session = message.session, await mustWait(message, for: session) {
            keep(bytes, for: session)
        } else {
            try await receive(message)
        }
    }

    /// Whether a message would overtake earlier ones, or its realm has as much to do as it may.
    private func mustWait(_ message: ServerMessage, for session: SessionIdent) async -> Bool {
        if inbox.holds(session) { return true }
        guard case .download = message else { return false }
        return await realm(of: session)?.isFull ?? false
    }

    private func keep(_ message: [UInt8], for session: SessionIdent) {
        inbox.append(message, for: session)
        deliverable.raise()
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
}

// MARK: Waiting messages

extension UserConnection {
    /// Delivers the messages of the inbox as their realms take them, until the task is cancelled.
    private func deliver() async throws {
        while !Task.isCancelled {
            guard let bytes = await takeDeliverable() else {
                await deliverable.wait()
                continue
            }
            let isLarge = bytes.count >= Inbox.largeMessageInBytes
            try await receive(isLarge ? .decodedAside(bytes, mode) : .decoded(bytes, mode))
            inbox.delivered()
            inboxShrunk.raise()
        }
    }

    private func takeDeliverable() async -> [UInt8]? {
        for session in inbox.sessions {
            if let realm = realm(of: session), await realm.isFull { continue }
            return inbox.takeNext(of: session)
        }
        return nil
    }

    /// Reading ahead is for other realms; without one, what is not read stays where it is.
    private var isInboxFull: Bool {
        inbox.sizeInBytes > (realmsInOrder.count > 1 ? Inbox.limitInBytes : 0)
    }

    /// Stops reading until the inbox has got shorter. Meanwhile a PONG may have arrived unread.
    private func hold() async {
        isHolding = true
        await inboxShrunk.wait()
        isHolding = false
        machine.resumedReading(at: time.uptime())
        attention.raise()
    }
}
