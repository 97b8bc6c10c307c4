internal import CPostgres
internal import Glibc

extension Connection {
    /// The process of the server that works for this connection; its notifications carry it.
    package var backendID: Int32 {
        (try? exchange { handle throws(PostgreSQLError) in PQbackendPID(handle) }) ?? 0
    }

    /// Waits for notifications on the channels that `LISTEN` named.
    ///
    /// Returns as soon as there is one, or `wake` was signalled; an empty list at the deadline.
    package func notifications(
        until deadline: Deadline,
        wake: Wake? = nil
    ) throws(PostgreSQLError) -> [Notification] {
        try exchange { handle throws(PostgreSQLError) in
            while true {
                try receive(handle)
                let notifications = Self.take(handle)
                if !notifications.isEmpty || deadline.hasPassed { return notifications }
                do throws(PostgreSQLError) {
                    let outcome = try wait(
                        handle,
                        for: POLLIN,
                        until: deadline,
                        wake: wake?.descriptor ?? -1
                    )
                    if outcome == .woken {
                        wake?.drain()
                        return []
                    }
                } catch {
                    guard error.cause == .timedOut else { throw error }
                    return []
                }
            }
        }
    }

    /// Waits until the deadline, unless the connection is interrupted or lost.
    func idle(until deadline: Deadline) throws(PostgreSQLError) {
        while !deadline.hasPassed {
            _ = try notifications(until: deadline)
        }
    }

    private static func take(_ handle: OpaquePointer) -> [Notification] {
        var notifications: [Notification] = []
        while let notification = PQnotifies(handle) {
            defer { PQfreemem(notification) }
            notifications.append(
                Notification(
                    channel: String(cString: notification.pointee.relname),
                    payload: String(cString: notification.pointee.extra),
                    sender: notification.pointee.be_pid
                )
            )
        }
        return notifications
    }
}
