import SyncProtocol

/// Reads what a client gets; a message that cannot be read ends the connection.
extension ServerMessage {
    static func decoded(_ bytes: [UInt8], _ mode: SyncMode) throws(ProtocolViolation) -> Self {
        do throws(WireError) {
            let context = WireContext(mode: mode, limits: .client)
            return try ServerMessage(decoding: bytes, context: context)
        } catch {
            throw .malformed(error)
        }
    }

    /// The same off the caller's actor: inflating takes long.
    @concurrent
    static func decodedAside(
        _ bytes: [UInt8],
        _ mode: SyncMode
    ) async throws(ProtocolViolation) -> Self {
        try decoded(bytes, mode)
    }
}
