import Coordination
package import SyncProtocol

/// One end of a connection inside the process: a WebSocket for simulations and tests.
package final class InMemoryStream: MessageStream {
    package let subProtocol: String?
    private let incoming: BoundedQueue<[UInt8], TransportError>
    private let outgoing: BoundedQueue<[UInt8], TransportError>

    private init(
        subProtocol: String?,
        incoming: BoundedQueue<[UInt8], TransportError>,
        outgoing: BoundedQueue<[UInt8], TransportError>
    ) {
        self.subProtocol = subProtocol
        self.incoming = incoming
        self.outgoing = outgoing
    }

    /// Two connected ends, each of which holds up to `capacity` unreceived messages.
    package static func makePair(
        subProtocol: String?,
        capacity: Int = 16
    ) -> (client: InMemoryStream, server: InMemoryStream) {
        let up = BoundedQueue<[UInt8], TransportError>(capacity: capacity)
        let down = BoundedQueue<[UInt8], TransportError>(capacity: capacity)
        return (
            InMemoryStream(subProtocol: subProtocol, incoming: down, outgoing: up),
            InMemoryStream(subProtocol: subProtocol, incoming: up, outgoing: down)
        )
    }

    package func receive() async throws(TransportError) -> [UInt8]? {
        try await incoming.pop()
    }

    package func isReceivable(orWake wake: @escaping @Sendable () -> Void) -> Bool {
        incoming.isReady(orWake: wake)
    }

    package func send(_ message: [UInt8]) async throws(TransportError) {
        guard await outgoing.push(message) else {
            throw .lost(reason: "the stream has ended")
        }
    }

    package func close(_ code: CloseCode, reason: String) async {
        end(telling: code == .normal ? nil : .closed(code, reason: reason))
    }

    /// Ends the connection as a broken network does: neither end learns why.
    package func cut() {
        end(telling: .lost(reason: "cut"))
    }

    private func end(telling error: TransportError?) {
        outgoing.finish(throwing: error)
        incoming.finish(throwing: .lost(reason: "closed here"))
    }
}
