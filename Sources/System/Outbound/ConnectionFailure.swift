import Glibc
import NIOCore
import NIOPosix

/// A connection that is not made, in words for people.
package enum ConnectionFailure {
    /// Nil if the error is neither the network's nor the resolver's.
    package static func sentence(for error: any Error) -> String? {
        switch error {
        case let error as NIOConnectionError:
            // Addresses fail alike; the first is the preferred one.
            error.connectionErrors.first.map { sentence(for: $0.error) ?? "\($0.error)" }
                ?? "the name cannot be resolved"
        case let error as IOError: String(cString: strerror(error.errnoCode))
        // The end came while handlers were added or bytes were written: NIO then says what it could not do.
        case ChannelError.inappropriateOperationForState, ChannelError.ioOnClosedChannel,
            ChannelError.alreadyClosed, ChannelError.eof, ChannelError.outputClosed:
            "the other end closed the connection"
        default: nil
        }
    }
}
