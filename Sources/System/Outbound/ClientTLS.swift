import Glibc
package import NIOSSL

/// Whom to trust, and what to show of oneself: what the files of a configuration amount to.
package struct ClientTLS: Sendable {
    /// PEM; nil for the authorities of the system.
    package var authorityFile: String?
    package var verifiesServer: Bool
    package var certificate: Certificate?

    /// What servers are shown that ask for it.
    package struct Certificate: Sendable {
        /// PEM: the client's own certificate first, then those that vouch for it.
        package let file: String
        /// PEM, without a passphrase.
        package let key: String

        package init(file: String, key: String) {
            self.file = file
            self.key = key
        }
    }

    package init(
        authorityFile: String? = nil,
        verifiesServer: Bool = true,
        certificate: Certificate? = nil
    ) {
        self.authorityFile = authorityFile
        self.verifiesServer = verifiesServer
        self.certificate = certificate
    }

    /// What is wrong with one of the files, under the key that names it.
    package struct Problem: Error, Hashable, Sendable {
        /// Below `tls`.
        package let key: String
        package let problem: String
        package let remedy: String
    }

    /// Reads the files, and proves that what is in them belongs together.
    package func configuration() throws(Problem) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if let authorityFile {
            tls.trustRoots = .certificates(try Self.certificates(authorityFile, key: "ca_file"))
        }
        if !verifiesServer { tls.certificateVerification = .none }
        guard let certificate else { return tls }
        let key = "client_certificate.certificate"
        let chain = try Self.certificates(certificate.file, key: key)
        tls.certificateChain = chain.map { .certificate($0) }
        tls.privateKey = .privateKey(try Self.privateKey(certificate.key))
        do {
            _ = try NIOSSLContext(configuration: tls)
        } catch {
            throw Problem(
                key: "client_certificate.key",
                problem: "is not the key of the certificate in \(certificate.file)",
                remedy: "name the key that the certificate was issued for"
            )
        }
        return tls
    }

    private static func certificates(
        _ file: String,
        key: String
    ) throws(Problem) -> [NIOSSLCertificate] {
        guard access(file, R_OK) == 0 else {
            throw Problem(
                key: key,
                problem: "\(file) cannot be read",
                remedy: "correct the path, or let the agent's user read the file"
            )
        }
        let certificates = (try? NIOSSLCertificate.fromPEMFile(file)) ?? []
        guard certificates.isEmpty else { return certificates }
        throw Problem(
            key: key,
            problem: "\(file) holds no certificate",
            remedy: "give a file in PEM, with lines such as -----BEGIN CERTIFICATE-----"
        )
    }

    private static func privateKey(_ text: String) throws(Problem) -> NIOSSLPrivateKey {
        do {
            return try NIOSSLPrivateKey(bytes: Array(text.utf8), format: .pem)
        } catch {
            // Nothing of the text may get into a message.
            throw Problem(
                key: "client_certificate.key",
                problem: "is no private key",
                remedy: "give one in PEM, without a passphrase"
            )
        }
    }
}

extension ClientTLS.Certificate: CustomStringConvertible, CustomReflectable {
    package var description: String { file }
    package var customMirror: Mirror { Mirror(self, children: ["file": file]) }
}
