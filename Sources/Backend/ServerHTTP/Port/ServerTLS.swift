import NIOCore
import NIOSSL
package import ServerConfig
import ServerStore
import Synchronization

/// The server's certificate, which a reload can replace.
package final class ServerTLS: Sendable {
    private let current: Mutex<Prepared>

    /// A certificate that is read and checked.
    package struct Prepared {
        fileprivate let context: NIOSSLContext
        /// The certificates, to detect a change.
        fileprivate let chain: [NIOSSLCertificate]
    }

    package struct Unusable: CodedError, CustomStringConvertible {
        package let code = "server.tls"
        package let description: String
    }

    package init(_ files: CertificateFiles) throws(Unusable) {
        self.current = Mutex(try Self.prepare(files))
    }

    /// Reads and checks the files.
    package static func prepare(_ files: CertificateFiles) throws(Unusable) -> Prepared {
        do {
            let chain = try NIOSSLCertificate.fromPEMFile(files.certificate)
            let key = try NIOSSLPrivateKey(file: files.key, format: .pem)
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) },
                privateKey: .privateKey(key)
            )
            configuration.minimumTLSVersion = .tlsv12
            let context = try NIOSSLContext(configuration: configuration)
            return Prepared(context: context, chain: chain)
        } catch {
            throw Unusable(
                description: "\(files.certificate) and \(files.key) are not a certificate with its "
                    + "key: \(error)"
            )
        }
    }

    /// Uses the certificate for new connections; existing ones keep theirs. Returns whether it has
    /// changed.
    package func use(_ prepared: Prepared) -> Bool {
        current.withLock { current in
            defer { current = prepared }
            return current.chain != prepared.chain
        }
    }

    /// When the certificate ends, in seconds since 1970.
    package var expiry: Int64? {
        current.withLock { $0.chain.first.map { Int64($0.notValidAfter) } }
    }

    func handler() -> NIOSSLServerHandler {
        NIOSSLServerHandler(context: current.withLock { $0.context })
    }
}
