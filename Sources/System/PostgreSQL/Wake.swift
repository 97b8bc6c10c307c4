/// Ends a wait of another thread, without an error.
package final class Wake: Sendable {
    private let event: EventDescriptor

    package init() throws(PostgreSQLError) {
        event = try EventDescriptor()
    }

    /// Ends the wait of now, or the next one.
    package func signal() {
        event.signal()
    }

    /// Waits for a signal; false if the deadline came first. Throws when interrupted.
    package func wait(
        until deadline: Deadline,
        unless interruption: Interruption
    ) throws(PostgreSQLError) -> Bool {
        do throws(PostgreSQLError) {
            _ = try Waiting.wait(
                for: 0,
                on: -1,
                until: deadline,
                unless: interruption,
                wake: descriptor
            )
            drain()
            return true
        } catch {
            guard error.cause == .timedOut else { throw error }
            return false
        }
    }

    var descriptor: Int32 { event.descriptor }

    func drain() {
        event.drain()
    }
}
