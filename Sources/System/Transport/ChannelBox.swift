import NIOCore
import Outbound
import Synchronization

/// What is known of a connection that is being opened, for whoever gives up or explains it.
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

    /// Why TLS failed, which says more than what came of it.
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

    /// Ends a connection whose opening nobody waits for any more.
    func close() {
        let channel = state.withLock { state in
            state.isClosed = true
            return state.channel
        }
        channel?.close(promise: nil)
    }
}

/// Notes how TLS fails: a server that wants a certificate says so only after its part of the handshake,
/// when the upgrade hears no more than that the connection is gone.
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
