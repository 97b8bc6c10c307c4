/// Ends the waits of connections from another thread.
///
/// Several connections may share one, as those of a pool that shuts down. An interruption stays: each
/// later wait ends at once with `.interrupted`, and closes its connection.
package final class Interruption: Sendable {
    private let event: EventDescriptor

    package init() throws(PostgreSQLError) {
        event = try EventDescriptor()
    }

    package func interrupt() {
        event.signal()
    }

    var descriptor: Int32 { event.descriptor }
}
