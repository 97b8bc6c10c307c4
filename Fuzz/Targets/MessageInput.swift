import SyncProtocol
import Versions

/// The first byte selects the mode.
enum MessageInput {
    static func runClient(_ bytes: [UInt8], _ claims: inout Claims) {
        guard let first = bytes.first else { return }
        let context = context(first, .server)
        guard let message = try? ClientMessage(decoding: Array(bytes.dropFirst()), context: context)
        else { return }
        let encoded = message.encoded()
        let again = try? ClientMessage(decoding: encoded, context: context)
        claims.check(again == message, "a message of a client is another one when it is read again")
    }

    static func runServer(_ bytes: [UInt8], _ claims: inout Claims) {
        guard let first = bytes.first else { return }
        let context = context(first, .client)
        guard let message = try? ServerMessage(decoding: Array(bytes.dropFirst()), context: context)
        else { return }
        _ = message.encoded()
    }

    private static func context(_ byte: UInt8, _ limits: Limits) -> WireContext {
        WireContext(mode: byte % 2 == 0 ? .partitionBased : .flexible, limits: limits)
    }
}
