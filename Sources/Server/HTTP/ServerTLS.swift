import NIOCore
import NIOSSL
import Synchronization

/// The certificate that the server shows, which can be replaced while the server runs.
package final class ServerTLS: Sendable {
    private let current: Mutex<Prepared>

    /// A certificate that could be shown from now on.
    struct Prepared {
        fileprivate let context: NIOSSLContext
        /// Of the certificates, to tell whether they are others.
        fileprivate let chain: [NIOSSLCertificate]
    }

    /// Where certificate and key are.
    package struct TLSFiles: Hashable, Sendable {
        /// PEM: the server's own first, then those that vouch for it.
        package let certificate: String
        package let key: String

        package init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    package struct Unusable: CodedError, CustomStringConvertible {
        package let code = "server.tls"
        package let description: String
    }

    package init(_ files: TLSFiles) throws(Unusable) {
        self.current = Mutex(try Self.prepare(files))
    }

    /// Reads and checks what is in the files.
    static func prepare(_ files: TLSFiles) throws(Unusable) -> Prepared {
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
                description: "\(files.certificate) and \(files.key) are no certificate with its "
                    + "key: \(error)"
            )
        }
    }

    /// New connections get this certificate; those that there are keep what they have. True if it is
    /// another than before.
    func use(_ prepared: Prepared) -> Bool {
        current.withLock { current in
            defer { current = prepared }
            return current.chain != prepared.chain
        }
    }

    func handler() -> NIOSSLServerHandler {
        NIOSSLServerHandler(context: current.withLock { $0.context })
    }
}
