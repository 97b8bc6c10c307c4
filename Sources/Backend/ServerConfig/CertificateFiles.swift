/// The paths of certificate and key.
package struct CertificateFiles: Hashable, Sendable {
    /// PEM: the server's own first, then its chain.
    package let certificate: String
    package let key: String

    package init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }
}
