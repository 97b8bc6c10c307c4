import NIOCore
import Outbound
import Synchronization

/// The state of a connection that is being opened, for the code that cancels it or reports its
/// error.
final class ChannelBox: Sendable {
    private struct State {
        var channel: (any Channel)?
        var isClosed = false
        var isThrough = false
        var failure: (any Error)?
    }

    private let state = Mutex(State())

    /// The proxy has connected it to the server.
    var isThrough: Bool {
        get { state.withLock { $0.isThrough } }
        set { state.withLock { $0.isThrough = newValue } }
    }

    /// The TLS error; more specific than the error that follows.
    var failure: (any Error)? { state.withLock { $0.failure } }

    func note(_ failure: any Error) {
        state.withLock { $0.failure = $0.failure ?? failure }
    }

    func keep(_ channel: any Channel) {
        let isClosed = state.withLock { state in
            state.channel = channel
            return state.isClosed
        }
        if isClosed { channel.close(promise: nil) }
    }

    /// Closes a connection that is no longer waited for.
    func close() {
        let channel = state.withLock { state in
            state.isClosed = true
            return state.channel
        }
        channel?.close(promise: nil)
    }
}

/// Records how TLS fails. A server that requires a certificate says so only after its part of the
/// handshake, when the upgrade sees only that the connection is gone.
final class HandshakeWatch: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    private let box: ChannelBox

    init(_ box: ChannelBox) {
        self.box = box
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if TLSFailure.sentence(for: error) != nil { box.note(error) }
        context.fireErrorCaught(error)
    }
}
