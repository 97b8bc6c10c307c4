import NIOCore
import NIOSSL
import Synchronization

/// The certificate that the server shows, and can be told to read again.
package final class ServerTLS: Sendable {
    private let configuration: TLSFiles
    private let context: Mutex<NIOSSLContext>

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
        self.configuration = files
        self.context = Mutex(try Self.context(of: files))
    }

    /// New connections get what is in the files now; those that there are keep what they have. If the
    /// files are no good, nothing changes.
    package func reload() throws(Unusable) {
        let fresh = try Self.context(of: configuration)
        context.withLock { $0 = fresh }
    }

    func handler() -> NIOSSLServerHandler {
        NIOSSLServerHandler(context: context.withLock { $0 })
    }

    private static func context(of files: TLSFiles) throws(Unusable) -> NIOSSLContext {
        do {
            let chain = try NIOSSLCertificate.fromPEMFile(files.certificate)
            let key = try NIOSSLPrivateKey(file: files.key, format: .pem)
            return try NIOSSLContext(
                configuration: .makeServerConfiguration(
                    certificateChain: chain.map { .certificate($0) },
                    privateKey: .privateKey(key)
                )
            )
        } catch {
            throw Unusable(
                description: "\(files.certificate) and \(files.key) are no certificate with its "
                    + "key: \(error)"
            )
        }
    }
}
