import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization
import TestSupport

/// An HTTP server on loopback that answers everything with an empty JSON object.
enum JSONServer {
    struct Running {
        let port: Int
        fileprivate let log: HeadLog

        /// Headers of every request so far.
        var requests: [HTTPHeaders] { log.heads.withLock { $0 } }
    }

    fileprivate final class HeadLog: Sendable {
        let heads = Mutex<[HTTPHeaders]>([])
    }

    /// Serves while the body runs; over TLS, asking for a certificate, if `tls` is given.
    static func with(
        tls: NIOSSLContext? = nil,
        _ body: (Running) async throws -> Void
    ) async throws {
        let log = HeadLog()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(Answerer(log))
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        do {
            try await body(Running(port: channel.localAddress?.port ?? 0, log: log))
            try await channel.close()
        } catch {
            try await channel.close()
            throw error
        }
    }

    /// With the certificate for loopback, which is also the authority of clients.
    static func tls() throws -> NIOSSLContext {
        let bytes = Array(LoopbackCertificate.certificate.utf8)
        let certificate = try NIOSSLCertificate(bytes: bytes, format: .pem)
        let key = try NIOSSLPrivateKey(bytes: Array(LoopbackCertificate.key.utf8), format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(certificate)],
            privateKey: .privateKey(key)
        )
        configuration.certificateVerification = .noHostnameVerification
        configuration.trustRoots = .certificates([certificate])
        return try NIOSSLContext(configuration: configuration)
    }

    private final class Answerer: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let log: HeadLog

        init(_ log: HeadLog) {
            self.log = log
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): log.heads.withLock { $0.append(head.headers) }
            case .body: break
            case .end:
                let headers: HTTPHeaders = [
                    "content-type": "application/json", "content-length": "2",
                ]
                let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)
                context.write(wrapOutboundOut(.head(head)), promise: nil)
                let body = ByteBuffer(string: "{}")
                context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            context.close(promise: nil)
        }
    }
}
