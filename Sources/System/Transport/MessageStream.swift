package import SyncProtocol

/// A two-way stream of whole binary messages, one sync protocol message each (wire protocol, 1).
///
/// One task receives at a time, and any number send; both ends of a full stream wait.
package protocol MessageStream: Sendable {
    /// The sub-protocol that the two ends agreed on, as the opening answer spelled it.
    var subProtocol: String? { get }

    /// The next message; nil once the peer has closed in order, with the code 1000.
    ///
    /// - Throws: `closed` for any other code, `lost` if the connection just ended.
    func receive() async throws(TransportError) -> [UInt8]?

    /// Hands the message to the connection, waiting while the peer does not keep up.
    func send(_ message: [UInt8]) async throws(TransportError)

    /// What has been measured of the connection; nil where there is nothing to measure.
    func statistics() async -> SocketStatistics?

    /// Tells the peer why, then ends the connection without waiting long for an answer.
    func close(_ code: CloseCode, reason: String) async
}

extension MessageStream {
    /// Streams that are no connection of the kernel's.
    package func statistics() async -> SocketStatistics? { nil }
}
