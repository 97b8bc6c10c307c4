import CLinux
import Dispatch
import Glibc

/// Listens for links, addresses and routes as they come and go (rtnetlink).
struct NetworkEvents: Sendable {
    /// The reason why the kernel sends no notifications.
    struct Unavailable: Error {
        let reason: String
    }

    /// One element for each batch of changes; pending ones merge into one.
    static func changes() throws(Unavailable) -> AsyncStream<Void> {
        let socket = linux_network_events()
        guard socket >= 0 else { throw Unavailable(reason: String(cString: strerror(errno))) }
        _ = fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK)
        let (stream, continuation) = AsyncStream.makeStream(
            of: Void.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let source = DispatchSource.makeReadSource(fileDescriptor: socket)
        source.setEventHandler {
            if isChange(on: socket) { continuation.yield() }
        }
        source.setCancelHandler { close(socket) }
        let cancellation = SourceCancellation(source)
        continuation.onTermination = { _ in cancellation.cancel() }
        source.resume()
        return stream
    }

    /// Empties the socket. An overflow counts as a change too: its content is lost.
    private static func isChange(on socket: Int32) -> Bool {
        var isChange = false
        var datagram = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let size = recv(socket, &datagram, datagram.count, 0)
            guard size > 0 else { return isChange || (size < 0 && errno == ENOBUFS) }
            if linux_count_network_events(datagram, size) > 0 { isChange = true }
        }
    }
}

/// Lets a source be cancelled from any thread.
private final class SourceCancellation: Sendable {
    // Dispatch sources may be cancelled from any thread; the protocol does not say so.
    nonisolated(unsafe) private let source: any DispatchSourceRead

    init(_ source: any DispatchSourceRead) {
        self.source = source
    }

    func cancel() {
        source.cancel()
    }
}
