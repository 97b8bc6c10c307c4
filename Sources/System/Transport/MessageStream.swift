package import SyncProtocol

/// A two-way stream of whole binary messages, one sync protocol message each (wire protocol, 1).
///
/// One task receives at a time, any number of tasks send; both ends of a full stream wait.
package protocol MessageStream: Sendable {
    /// The sub-protocol that the two ends agreed on, as spelled in the upgrade response.
    var subProtocol: String? { get }

    /// The next message; nil once the peer has closed cleanly, with the code 1000.
    ///
    /// - Throws: `closed` for any other code, `lost` if the connection just ended.
    func receive() async throws(TransportError) -> [UInt8]?

    /// Whether `receive` would return at once. If not, `wake` is called once it would, on any thread, so
    /// that no task has to wait while the peer is silent. A later call replaces `wake`.
    func isReceivable(orWake wake: @escaping @Sendable () -> Void) -> Bool

    /// Sends the message, waiting while the peer does not keep up.
    func send(_ message: [UInt8]) async throws(TransportError)

    /// Measurements of the connection; nil if there are none.
    func statistics() async -> SocketStatistics?

    /// Tells the peer why, then ends the connection without waiting long for its close frame.
    func close(_ code: CloseCode, reason: String) async
}

extension MessageStream {
    /// The default for streams without a socket.
    package func statistics() async -> SocketStatistics? { nil }
}
