/// Ends a wait for notifications from another thread, without an error.
package final class Wake: Sendable {
    private let event: EventDescriptor

    package init() throws(PostgreSQLError) {
        event = try EventDescriptor()
    }

    /// Ends the wait of now, or the next one.
    package func signal() {
        event.signal()
    }

    var descriptor: Int32 { event.descriptor }

    func drain() {
        event.drain()
    }
}
