import ServerAccounts
package import ServerConfig
import ServerHTTP

extension NamedFiles {
    /// Checks files as this server reads them.
    package init(_ secrets: SecretReader) {
        self.init(secrets, ServerFileChecks())
    }
}

private struct ServerFileChecks: FileChecks {
    func check(_ files: CertificateFiles) throws {
        _ = try ServerTLS.prepare(files)
    }

    func holdSecrets(
        _ keys: JWTConfiguration.Keys,
        for algorithm: JWTConfiguration.Algorithm,
        _ secrets: SecretReader
    ) throws -> Bool {
        try keys.holdSecrets(for: algorithm, secrets)
    }
}
