import Coordination
package import NIOCore
import NIOWebSocket
package import SyncProtocol

/// A WebSocket connection as a message stream (wire protocol, 2.6).
package final class WebSocketStream: MessageStream {
    /// An upgraded channel, whose pipeline is prepared.
    package struct Channel: Sendable {
        package let channel: any NIOCore.Channel
        fileprivate let handler: NIOLoopBound<WebSocketHandler>
        fileprivate let messages: WebSocketHandler.Messages
    }

    /// The end of the connection: a client masks its frames, a server must not.
    package enum Role: Sendable {
        case client
        case server
    }

    package let subProtocol: String?
    let channel: any NIOCore.Channel
    private let handler: NIOLoopBound<WebSocketHandler>
    private let messages: WebSocketHandler.Messages

    /// Messages that the receiver has not taken; with so many, no more are read.
    private static let messagesAhead = 15

    private init(_ channel: Channel, subProtocol: String?) {
        self.subProtocol = subProtocol
        self.channel = channel.channel
        self.handler = channel.handler
        self.messages = channel.messages
    }

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
        let messages = WebSocketHandler.Messages(capacity: messagesAhead)
        let handler = WebSocketHandler(role: role, messages: messages)
        try pipeline.addHandler(handler)
        return Channel(
            channel: channel,
            handler: NIOLoopBound(handler, eventLoop: channel.eventLoop),
            messages: messages
        )
    }

    /// Lends the stream of an upgraded channel to the body, and ends the connection after it.
    package static func with<Result: Sendable>(
        _ channel: Channel,
        subProtocol: String?,
        _ body: @escaping @Sendable (WebSocketStream) async throws -> Result
    ) async throws -> Result {
        let stream = WebSocketStream(channel, subProtocol: subProtocol)
        let ending: Swift.Result<Result, any Error>
        do { ending = .success(try await body(stream)) } catch { ending = .failure(error) }
        await stream.end()
        return try ending.get()
    }

    /// Closes the connection. A close frame needs its time on the wire first, however the body ended: a
    /// socket closed with bytes unread discards it.
    private func end() async {
        let (channel, handler) = (channel, handler)
        let hasSentClose = channel.eventLoop.submit { handler.value.hasSentClose }
        if (try? await hasSentClose.get()) == true {
            // Until the peer, the timer of the close frame or a cancellation ends the connection.
            await withTaskCancellationHandler {
                try? await channel.closeFuture.get()
            } onCancel: {
                channel.close(promise: nil)
            }
        }
        channel.close(promise: nil)
        try? await channel.closeFuture.get()
    }

    package func receive() async throws(TransportError) -> [UInt8]? {
        guard let frame = try await messages.pop() else { return nil }
        channel.eventLoop.execute { [handler] in handler.value.noteTaken() }
        guard frame.data.readableBytes > Self.smallMessageInBytes else { return frame.message }
        return await Self.message(of: frame)
    }

    /// Larger messages are copied, and their masks taken off, on no actor's time.
    private static let smallMessageInBytes = 16 << 10

    @concurrent
    private static func message(of frame: WebSocketFrame) async -> [UInt8] { frame.message }

    package func isReceivable(orWake wake: @escaping @Sendable () -> Void) -> Bool {
        messages.isReady(orWake: wake)
    }

    package func send(_ message: [UInt8]) async throws(TransportError) {
        let data = channel.allocator.buffer(bytes: message)
        let result = await perform { handler, ticket, done in
            handler.write(.binary, data, ticket, done: done)
        }
        if case .failure(let error) = result { throw .lost(reason: "\(error)") }
    }

    package func close(_ code: CloseCode, reason: String) async {
        _ = await perform { handler, ticket, done in
            handler.close(code, reason: reason, telling: .lost(reason: "closed here"), ticket) {
                done(.success(()))
            }
        }
    }

    /// Waits until the handler has done what `body` asks of it. A cancelled task waits for nothing.
    private func perform(
        _ body:
            @escaping @Sendable (
                WebSocketHandler, WebSocketHandler.Ticket,
                _ done: @escaping (Result<Void, any Error>) -> Void
            ) -> Void
    ) async -> Result<Void, any Error> {
        let (loop, handler, ticket) = (channel.eventLoop, handler, WebSocketHandler.Ticket())
        let outcome = Promise<Result<Void, any Error>>()
        if Task.isCancelled { ticket.cancel() }
        loop.execute { body(handler.value, ticket) { outcome.keep($0) } }
        return await withTaskCancellationHandler {
            await outcome.value
        } onCancel: {
            // Before the loop looks, or it would keep the frame of a task that is cancelled just now.
            ticket.cancel()
            loop.execute { handler.value.dropCancelled() }
        }
    }
}

extension WebSocketFrame {
    fileprivate var message: [UInt8] { Array(buffer: unmaskedData) }
}
