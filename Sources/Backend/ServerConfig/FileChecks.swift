/// Reads files as the parts of the server that use them do.
package protocol FileChecks: Sendable {
    /// Throws if the server could not use the certificate with the key.
    func check(_ files: CertificateFiles) throws

    /// Whether the keys of tokens include a secret. Throws `SecretReader.Missing`, or an error that
    /// describes a key that is not valid.
    func holdSecrets(
        _ keys: JWTConfiguration.Keys,
        for algorithm: JWTConfiguration.Algorithm,
        _ secrets: SecretReader
    ) throws -> Bool
}
