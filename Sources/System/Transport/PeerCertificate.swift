import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS

/// The certificate that a server presents, trusted or not.
package struct PeerCertificate: Hashable, Sendable {
    /// Seconds since 1970.
    package let validFrom: Int64
    package let validUntil: Int64

    package init(validFrom: Int64, validUntil: Int64) {
        self.validFrom = validFrom
        self.validUntil = validUntil
    }

    /// Reads a server's certificate: resolves, connects and does the TLS handshake, and sends
    /// nothing after that.
    ///
    /// - Throws: why there is no TLS connection within the time.
    package static func read(
        host: String,
        port: Int,
        timeout: Duration
    ) async throws(TransportError) -> PeerCertificate {
        let certificate = MultiThreadedEventLoopGroup.singleton.any()
            .makePromise(of: PeerCertificate.self)
        do {
            // Only shown, so not verified: the code that sends data decides on trust.
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.minimumTLSVersion = .tlsv12
            configuration.certificateVerification = .none
            let context = try NIOSSLContext(configuration: configuration)
            let name = (try? SocketAddress(ipAddress: host, port: 0)) == nil ? host : nil
            let channel = try await ClientBootstrap(group: certificate.futureResult.eventLoop)
                .connectTimeout(TimeAmount(timeout))
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let pipeline = channel.pipeline.syncOperations
                        try pipeline.addHandler(
                            NIOSSLClientHandler(context: context, serverHostname: name)
                        )
                        try pipeline.addHandler(CertificateReader(certificate))
                    }
                }
                .connect(host: host, port: port).get()
            channel.eventLoop.scheduleTask(in: TimeAmount(timeout)) {
                channel.close(promise: nil)
            }
            defer { channel.close(promise: nil) }
            return try await certificate.futureResult.get()
        } catch let error as TransportError {
            certificate.fail(error)
            throw error
        } catch {
            // Without a connection nothing else would.
            certificate.fail(error)
            throw .tls(reason: "\(host):\(port): \(error)")
        }
    }
}

/// Reports the certificate after the handshake, or its failure.
private final class CertificateReader: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    private let certificate: EventLoopPromise<PeerCertificate>

    init(_ certificate: EventLoopPromise<PeerCertificate>) {
        self.certificate = certificate
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted? = event as? TLSUserEvent {
            do {
                let handler = try context.pipeline.syncOperations.handler(
                    type: NIOSSLClientHandler.self
                )
                guard let shown = handler.peerCertificate else {
                    throw TransportError.tls(reason: "the server shows no certificate")
                }
                certificate.succeed(
                    PeerCertificate(
                        validFrom: Int64(shown.notValidBefore),
                        validUntil: Int64(shown.notValidAfter)
                    )
                )
            } catch {
                certificate.fail(error)
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        certificate.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        certificate.fail(TransportError.tls(reason: "the server ended the handshake"))
        context.fireChannelInactive()
    }
}
