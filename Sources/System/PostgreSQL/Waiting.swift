internal import Glibc

/// Waits for descriptors until a deadline.
enum Waiting {
    enum Outcome: Equatable {
        /// The socket is ready, or has failed, which its next use reports.
        case ready
        /// The wake descriptor was signalled.
        case woken
    }

    /// Returns when the socket is ready for one of the events.
    ///
    /// - Parameters:
    ///   - socket: -1 waits for the other descriptors only.
    ///   - wake: a descriptor that ends the wait without an error.
    static func wait(
        for events: Int32,
        on socket: Int32,
        until deadline: Deadline,
        unless interruption: Interruption,
        wake: Int32 = -1
    ) throws(PostgreSQLError) -> Outcome {
        var descriptors = [
            pollfd(fd: socket, events: Int16(events), revents: 0),
            pollfd(fd: interruption.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            // Also where the socket is ready: a server that never stops sending must not hold us.
            guard !deadline.hasPassed else { throw .timedOut }
            let count = poll(&descriptors, nfds_t(descriptors.count), deadline.milliseconds)
            if count < 0 {
                guard errno == EINTR || errno == EAGAIN else {
                    throw PostgreSQLError(.unavailable, "poll() failed (\(errno))")
                }
            } else if descriptors[1].revents != 0 {
                throw .interrupted
            } else if descriptors[0].revents != 0 {
                return .ready
            } else if descriptors[2].revents != 0 {
                return .woken
            }
        }
    }
}
