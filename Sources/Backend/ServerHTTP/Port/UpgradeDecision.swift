import NIOCore
import NIOHTTP1
package import ServerStore
import Surroundings
package import SyncProtocol
package import Transport

/// Whether a request becomes a WebSocket (wire protocol, 2.3 to 2.5).
enum UpgradeDecision: Sendable {
    case accept(ConnectedUser, SubProtocol)
    case reject(UpgradeRejection)
}

/// The status and the text for a first request that cannot be served. Texts stay far below the 8
/// KiB that clients read.
///
/// Clients treat most 4xx as final, so a transient refusal must be a 5xx (wire protocol, 2.5).
struct UpgradeRejection: Hashable, Sendable {
    let status: Int
    let text: String

    /// Responds on a channel whose pipeline ends in the encoder of responses, then closes it.
    func send(on channel: any Channel, at clock: WallClock) {
        let body = ByteBuffer(string: text)
        let head = HTTPResponseHead(
            version: .http1_1,
            status: HTTPResponseStatus(statusCode: status),
            headers: [
                "date": clock.httpDate, "content-type": "text/plain",
                "content-length": "\(body.readableBytes)", "connection": "close",
            ]
        )
        channel.write(HTTPServerResponsePart.head(head), promise: nil)
        channel.write(HTTPServerResponsePart.body(.byteBuffer(body)), promise: nil)
        channel.writeAndFlush(HTTPServerResponsePart.end(nil)).whenComplete { _ in
            channel.close(promise: nil)
        }
    }
}

/// An upgraded connection, and its user.
package struct SyncSocket: Sendable {
    package let channel: WebSocketStream.Channel
    package let user: ConnectedUser
    package let subProtocol: SubProtocol
}
