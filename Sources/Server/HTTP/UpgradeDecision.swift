import SyncProtocol
import Transport

/// Whether a request becomes a WebSocket (wire protocol, 2.3 to 2.5).
enum UpgradeDecision: Sendable {
    case accept(SyncUser, SubProtocol)
    case reject(UpgradeRejection)
}

/// The status and the text of a refused upgrade. Texts stay far below the 8 KiB that clients read.
///
/// Clients take most 4xx for final, so what may pass must be a 5xx (wire protocol, 2.5).
struct UpgradeRejection: Hashable, Sendable {
    let status: Int
    let text: String
}

/// An upgraded connection, and whose it is.
struct SyncSocket: Sendable {
    let channel: WebSocketStream.Channel
    let user: SyncUser
    let subProtocol: SubProtocol
}
