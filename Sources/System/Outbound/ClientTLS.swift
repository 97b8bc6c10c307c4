import Glibc
package import NIOSSL

/// The TLS files of a configuration: the authorities to trust and the client's own certificate.
package struct ClientTLS: Sendable {
    /// PEM; nil for the system's authorities.
    package var authorityFile: String?
    package var verifiesServer: Bool
    package var certificate: Certificate?
    /// Whether connections are certain to use TLS. If not, only a connection that does needs an authority.
    package var isCertain: Bool

    /// The certificate for servers that request one.
    package struct Certificate: Sendable {
        /// PEM: the client's own certificate first, then its chain.
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
        certificate: Certificate? = nil,
        isCertain: Bool = true
    ) {
        self.authorityFile = authorityFile
        self.verifiesServer = verifiesServer
        self.certificate = certificate
        self.isCertain = isCertain
    }

    /// A problem with one of the files, under the key that names it.
    package struct Problem: Error, Hashable, Sendable {
        /// Below `tls`.
        package let key: String
        package let problem: String
        package let remedy: String
        package var code = "config.bad_certificate"
    }

    /// Reads the files, and checks that certificate and key match.
    package func configuration(
        system: SystemAuthorities = .ofSystem
    ) throws(Problem) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if let authorityFile {
            tls.trustRoots = .certificates(try Self.certificates(authorityFile, key: "ca_file"))
        } else if verifiesServer, !system.exist {
            guard !isCertain else { throw .noAuthorities }
            // The default would fail every connection, also those without TLS.
            tls.trustRoots = .certificates([])
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
            // No part of the file's text may appear in a message.
            throw Problem(
                key: "client_certificate.key",
                problem: "is not a private key",
                remedy: "give one in PEM, without a passphrase"
            )
        }
    }
}

extension ClientTLS.Problem {
    static let noAuthorities = Self(
        key: "ca_file",
        problem: "is not set, and this system has no certificate authorities",
        remedy: "install the package ca-certificates, or name the file of the server's authority",
        code: "config.no_authorities"
    )
}

extension ClientTLS.Problem: CustomStringConvertible {
    package var description: String { "tls.\(key): \(problem); \(remedy) [\(code)]" }
}

extension ClientTLS.Certificate: CustomStringConvertible, CustomReflectable {
    package var description: String { file }
    package var customMirror: Mirror { Mirror(self, children: ["file": file]) }
}
