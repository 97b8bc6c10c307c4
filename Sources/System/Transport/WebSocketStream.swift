import Coordination
package import NIOCore
package import NIOWebSocket
package import SyncProtocol
import Synchronization

/// A WebSocket connection as a message stream (wire protocol, 2.6).
package final class WebSocketStream: MessageStream {
    package typealias Channel = NIOAsyncChannel<WebSocketFrame, WebSocketFrame>

    /// The end of the connection: a client masks its frames, a server must not.
    package enum Role: Sendable {
        case client
        case server
    }

    package let subProtocol: String?
    private let role: Role
    private let outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>
    let channel: any NIOCore.Channel
    private let messages = BoundedQueue<[UInt8], TransportError>(capacity: 4)
    private let hasSentClose = Atomic(false)

    private init(
        subProtocol: String?,
        role: Role,
        outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>,
        channel: any NIOCore.Channel
    ) {
        self.subProtocol = subProtocol
        self.role = role
        self.outbound = outbound
        self.channel = channel
    }

    /// The longest wait of a close for the peer: reference clients do not answer close frames.
    private static let closeTimeout = TimeAmount.seconds(2)
    /// The longest wait of the close frame for its turn on the wire.
    private static let closeWriteTimeout = TimeAmount.seconds(10)

    /// Prepares the pipeline of an upgraded channel: whole messages up to the limit, frames
    /// checked.
    ///
    /// - Parameter share: the budget that counts the messages, from the first byte until they are
    ///   received; nil: only their number is limited.
    package static func wrap(
        _ channel: any NIOCore.Channel,
        role: Role,
        maximumMessageSizeInBytes limit: Int,
        within share: IncomingShare? = nil
    ) throws -> Channel {
        let pipeline = channel.pipeline.syncOperations
        if let share {
            let decoder = try pipeline.handler(
                type: ByteToMessageHandler<WebSocketFrameDecoder>.self
            )
            try pipeline.addHandler(
                IncomingGate(share, maximumMessageSizeInBytes: limit),
                position: .before(decoder)
            )
        }
        try pipeline.addHandler(FrameCheck(role: role))
        try pipeline.addHandler(
            NIOWebSocketFrameAggregator(
                minNonFinalFragmentSize: 0,
                maxAccumulatedFrameCount: 1 << 16,
                maxAccumulatedFrameSize: limit
            )
        )
        return try Channel(wrappingChannelSynchronously: channel)
    }

    /// Lends the stream of an upgraded channel to the body, and ends the connection after it.
    package static func with<Result: Sendable>(
        _ channel: Channel,
        role: Role,
        subProtocol: String?,
        _ body: @escaping @Sendable (WebSocketStream) async throws -> Result
    ) async throws -> Result {
        try await channel.executeThenClose { inbound, outbound in
            let stream = WebSocketStream(
                subProtocol: subProtocol,
                role: role,
                outbound: outbound,
                channel: channel.channel
            )
            // The peer's end ends the pump first: the body learns of it in `receive`.
            return try await withThrowingDiscardingTaskGroup { group in
                group.addTask { await stream.pump(inbound) }
                defer {
                    group.cancelAll()
                    stream.messages.finish()
                }
                let ending: Swift.Result<Result, any Error>
                do { ending = .success(try await body(stream)) } catch { ending = .failure(error) }
                // A close frame needs its time on the wire, however the body ended: a socket closed
                // with bytes unread discards it.
                if stream.hasSentClose.load(ordering: .relaxed) { await stream.ended() }
                return try ending.get()
            }
        }
    }

    /// Waits until the peer, the timer of the close frame or a cancellation ends the connection.
    private func ended() async {
        let channel = channel
        await withTaskCancellationHandler {
            try? await channel.closeFuture.get()
        } onCancel: {
            channel.close(promise: nil)
        }
    }

    package func receive() async throws(TransportError) -> [UInt8]? {
        let message = try await messages.pop()
        if message != nil { noteTaken() }
        return message
    }

    /// Lets the gate continue reading. A client has none: it trusts its server.
    private func noteTaken() {
        guard role == .server else { return }
        channel.pipeline.triggerUserOutboundEvent(IncomingGate.MessageTaken(), promise: nil)
    }

    package func send(_ message: [UInt8]) async throws(TransportError) {
        do {
            try await write(.binary, channel.allocator.buffer(bytes: message))
        } catch {
            throw .lost(reason: "\(error)")
        }
    }

    package func close(_ code: CloseCode, reason: String) async {
        await close(code, reason: reason, telling: .lost(reason: "closed here"))
    }

    /// Sends the close frame, then tells the receiver, which may end the connection next.
    private func close(_ code: CloseCode, reason: String, telling error: TransportError?) async {
        defer { messages.finish(throwing: error) }
        guard !hasSentClose.exchange(true, ordering: .relaxed) else { return }
        var data = channel.allocator.buffer(capacity: 2 + reason.utf8.count)
        data.write(webSocketErrorCode: .init(codeNumber: Int(code.rawValue)))
        // A control frame holds 125 bytes at most.
        data.writeString(String(decoding: reason.utf8.prefix(120), as: UTF8.self))
        let channel = channel
        // A peer that does not read would block the frame forever.
        let stuck = channel.eventLoop.scheduleTask(in: Self.closeWriteTimeout) {
            channel.close(promise: nil)
        }
        try? await write(.connectionClose, data)
        stuck.cancel()
        let silent = channel.eventLoop.scheduleTask(in: Self.closeTimeout) {
            channel.close(promise: nil)
        }
        channel.closeFuture.whenComplete { _ in silent.cancel() }
    }

    private func write(_ opcode: WebSocketOpcode, _ data: ByteBuffer) async throws {
        try await outbound.write(
            WebSocketFrame(
                fin: true,
                opcode: opcode,
                maskKey: role == .client ? .random() : nil,
                data: data
            )
        )
    }
}

// MARK: Receiving

extension WebSocketStream {
    /// Sorts frames until the connection ends, then reports to the receiver how it ended.
    private func pump(_ frames: NIOAsyncChannelInboundStream<WebSocketFrame>) async {
        do {
            for try await frame in frames {
                switch frame.opcode {
                case .binary:
                    guard await messages.push(Array(buffer: frame.unmaskedData)) else { return }
                case .ping:
                    try await write(.pong, frame.unmaskedData)
                case .connectionClose:
                    return await answerClose(frame.unmaskedData)
                case .text:
                    noteTaken()  // Never part of the protocol: ignored, as the reference does.
                case .pong, .continuation:
                    continue
                default:
                    return await close(
                        .protocolError,
                        reason: "unknown frame type",
                        telling: .lost(reason: "the peer broke the WebSocket protocol")
                    )
                }
            }
            messages.finish(throwing: .lost(reason: "the peer is gone"))
        } catch {
            await fail(error)
        }
    }

    private func answerClose(_ data: ByteBuffer) async {
        var data = data
        let code =
            data.readWebSocketErrorCode().map { CloseCode(rawValue: UInt16($0)) } ?? .noStatus
        let reason = String(buffer: data)
        await close(
            code == .noStatus ? .normal : code,
            reason: "",
            telling: code == .normal ? nil : .closed(code, reason: reason)
        )
    }

    private func fail(_ error: any Error) async {
        switch error {
        case is CancellationError:
            messages.finish(throwing: .lost(reason: "cancelled"))
        case NIOWebSocketError.invalidFrameLength,
            NIOWebSocketFrameAggregator.Error.accumulatedFrameSizeIsTooLarge:
            await close(
                .messageTooBig,
                reason: "message too big",
                telling: .lost(reason: "a message is too big")
            )
        case is NIOWebSocketError, is NIOWebSocketFrameAggregator.Error, is FrameCheck.Failure:
            await close(
                .protocolError,
                reason: "bad frame",
                telling: .lost(reason: "the peer broke the WebSocket protocol")
            )
        default:
            messages.finish(throwing: .lost(reason: "\(error)"))
        }
    }
}

extension ByteBuffer {
    fileprivate mutating func readWebSocketErrorCode() -> Int? {
        readInteger(as: UInt16.self).map { Int($0) }
    }
}
