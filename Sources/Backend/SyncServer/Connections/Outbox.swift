import DequeModule
import SyncProtocol
import Versions

/// Outgoing messages: PONGs first, the others in order (wire protocol, 16).
struct Outbox {
    private var urgent: Deque<ServerMessage> = []
    private var ordinary: Deque<ServerMessage> = []
    /// Bytes of changesets in the queue; heads and other messages are negligible.
    private(set) var sizeInBytes = 0

    var count: Int { urgent.count + ordinary.count }

    mutating func append(_ message: ServerMessage) {
        if case .pong = message {
            urgent.append(message)
        } else {
            ordinary.append(message)
            sizeInBytes += Self.size(of: message)
        }
    }

    mutating func next() -> ServerMessage? {
        if let message = urgent.popFirst() { return message }
        guard let message = ordinary.popFirst() else { return nil }
        sizeInBytes -= Self.size(of: message)
        return message
    }

    private static func size(of message: ServerMessage) -> Int {
        guard case .download(let download) = message else { return 0 }
        return download.changesets.reduce(0) { $0 + $1.bytes.count }
    }
}
