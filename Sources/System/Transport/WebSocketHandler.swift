import Coordination
import DequeModule
import NIOCore
import NIOWebSocket
import SyncProtocol
import Synchronization

/// The end of a WebSocket's pipeline: sorts the frames that arrive, and writes frames as fast as the peer
/// takes them.
///
/// It stops reading while the receiver has messages to take, or a pong has to wait. While the connection is
/// silent no task waits in it. Before, waiting tasks took 16 of the 32 KiB of an idle session
/// (`benchmark-idle`).
final class WebSocketHandler: ChannelDuplexHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundIn = Never
    typealias OutboundOut = WebSocketFrame

    typealias Messages = BoundedQueue<WebSocketFrame, TransportError>

    /// Lets a task that waits for its frame's turn be cancelled.
    final class Ticket: Sendable {
        private let cancelled = Atomic(false)

        var isCancelled: Bool { cancelled.load(ordering: .acquiring) }
        func cancel() { cancelled.store(true, ordering: .releasing) }
    }

    /// A frame that waits until the peer takes in what was written before it.
    private struct Waiting {
        let frame: WebSocketFrame
        let ticket: Ticket?
        let done: (Result<Void, any Error>) -> Void

        var isPong: Bool { frame.opcode == .pong }
    }

    /// The longest wait of a close for the peer: reference clients do not answer close frames.
    private static let closeTimeout = TimeAmount.seconds(2)
    /// The longest wait of the close frame for its turn on the wire.
    private static let closeWriteTimeout = TimeAmount.seconds(10)

    private let role: WebSocketStream.Role
    private let messages: Messages
    private var context: ChannelHandlerContext?
    private var waiting: Deque<Waiting> = []
    /// No frame counts any more, and none is read.
    private var hasEnded = false
    private var isReadHeldBack = false
    private(set) var hasSentClose = false

    init(role: WebSocketStream.Role, messages: Messages) {
        self.role = role
        self.messages = messages
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        finish(.lost(reason: "the peer is gone"))
        self.context = nil
        failWaiting()
    }

    func channelInactive(context: ChannelHandlerContext) {
        finish(.lost(reason: "the peer is gone"))
        failWaiting()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event { finish(.lost(reason: "the peer is gone")) }
        context.fireUserInboundEventTriggered(event)
    }
}

// MARK: Reading

extension WebSocketHandler {
    private var isPaused: Bool {
        hasEnded || messages.isFull || waiting.contains { $0.isPong }
    }

    func read(context: ChannelHandlerContext) {
        if isPaused {
            isReadHeldBack = true
        } else {
            context.read()
        }
    }

    private func readOn() {
        guard isReadHeldBack, !isPaused else { return }
        isReadHeldBack = false
        context?.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasEnded else { return }
        let frame = unwrapInboundIn(data)
        switch frame.opcode {
        case .binary:
            // The receiver takes its mask off: that is too much work for a loop of many connections.
            hasEnded = !messages.add(frame)
        case .ping:
            write(.pong, frame.unmaskedData) { _ in }
        case .connectionClose:
            hasEnded = true
            answerClose(frame.unmaskedData)
        case .text:
            // Never part of the protocol: ignored, as the reference does.
            noteTaken()
        case .pong, .continuation:
            break
        default:
            hasEnded = true
            close(
                .protocolError,
                reason: "unknown frame type",
                telling: .lost(reason: "the peer broke the WebSocket protocol")
            )
        }
    }

    /// Lets the gate continue reading. A client has none: it trusts its server.
    func noteTaken() {
        guard let context else { return }
        if role == .server {
            context.triggerUserOutboundEvent(IncomingGate.MessageTaken(), promise: nil)
        }
        readOn()
    }

    private func answerClose(_ data: ByteBuffer) {
        var data = data
        let code =
            data.readWebSocketErrorCode().map { CloseCode(rawValue: UInt16($0)) } ?? .noStatus
        let reason = String(buffer: data)
        close(
            code == .noStatus ? .normal : code,
            reason: "",
            telling: code == .normal ? nil : .closed(code, reason: reason)
        )
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !hasEnded { fail(error) }
        context.fireErrorCaught(error)
    }

    private func fail(_ error: any Error) {
        hasEnded = true
        switch error {
        case NIOWebSocketError.invalidFrameLength,
            NIOWebSocketFrameAggregator.Error.accumulatedFrameSizeIsTooLarge:
            close(
                .messageTooBig,
                reason: "message too big",
                telling: .lost(reason: "a message is too big")
            )
        case is NIOWebSocketError, is NIOWebSocketFrameAggregator.Error, is FrameCheck.Failure:
            close(
                .protocolError,
                reason: "bad frame",
                telling: .lost(reason: "the peer broke the WebSocket protocol")
            )
        default:
            messages.finish(throwing: .lost(reason: "\(error)"))
        }
    }

    private func finish(_ error: TransportError) {
        hasEnded = true
        messages.finish(throwing: error)
    }
}

// MARK: Writing

extension WebSocketHandler {
    func channelWritabilityChanged(context: ChannelHandlerContext) {
        writeWaiting()
        context.fireChannelWritabilityChanged()
    }

    private func writeWaiting() {
        while let context, context.channel.isWritable, let next = waiting.popFirst() {
            context.writeAndFlush(wrapOutboundOut(next.frame), promise: nil)
            next.done(.success(()))
        }
        readOn()
    }

    /// `done` is called once the frame is on its way, or cannot be.
    func write(
        _ opcode: WebSocketOpcode,
        _ data: ByteBuffer,
        _ ticket: Ticket? = nil,
        done: @escaping (Result<Void, any Error>) -> Void
    ) {
        guard let context, context.channel.isActive else {
            return done(.failure(ChannelError.ioOnClosedChannel))
        }
        if let ticket, ticket.isCancelled { return done(.failure(CancellationError())) }
        let frame = WebSocketFrame(
            fin: true,
            opcode: opcode,
            maskKey: role == .client ? .random() : nil,
            data: data
        )
        guard waiting.isEmpty, context.channel.isWritable else {
            waiting.append(Waiting(frame: frame, ticket: ticket, done: done))
            return
        }
        context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
        done(.success(()))
    }

    /// Frames of cancelled tasks are not written.
    func dropCancelled() {
        let dropped = waiting.filter { $0.ticket?.isCancelled == true }
        guard !dropped.isEmpty else { return }
        waiting.removeAll { $0.ticket?.isCancelled == true }
        for frame in dropped { frame.done(.failure(CancellationError())) }
        writeWaiting()
    }

    private func failWaiting() {
        let failed = waiting
        waiting = []
        for frame in failed { frame.done(.failure(ChannelError.ioOnClosedChannel)) }
    }

    /// Sends the close frame, then tells the receiver, which may end the connection next.
    func close(
        _ code: CloseCode,
        reason: String,
        telling error: TransportError?,
        _ ticket: Ticket? = nil,
        done: @escaping () -> Void = {}
    ) {
        guard !hasSentClose, let channel = context?.channel else {
            messages.finish(throwing: error)
            return done()
        }
        hasSentClose = true
        var data = channel.allocator.buffer(capacity: 2 + reason.utf8.count)
        data.write(webSocketErrorCode: .init(codeNumber: Int(code.rawValue)))
        // A control frame holds 125 bytes at most.
        data.writeString(String(decoding: reason.utf8.prefix(120), as: UTF8.self))
        // A peer that does not read would block the frame forever.
        let stuck = channel.eventLoop.scheduleTask(in: Self.closeWriteTimeout) {
            channel.close(promise: nil)
        }
        write(.connectionClose, data, ticket) { [messages] _ in
            stuck.cancel()
            let silent = channel.eventLoop.scheduleTask(in: Self.closeTimeout) {
                channel.close(promise: nil)
            }
            channel.closeFuture.whenComplete { _ in silent.cancel() }
            messages.finish(throwing: error)
            done()
        }
    }
}

extension ByteBuffer {
    fileprivate mutating func readWebSocketErrorCode() -> Int? {
        readInteger(as: UInt16.self).map { Int($0) }
    }
}
