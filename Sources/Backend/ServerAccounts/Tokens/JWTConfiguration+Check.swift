package import ServerConfig

extension JWTConfiguration.Keys {
    /// Reads the keys; returns whether one of them is a secret. Throws `SecretReader.Missing`, or an
    /// error that describes a key that is not valid.
    package func holdSecrets(
        for algorithm: JWTConfiguration.Algorithm,
        _ secrets: SecretReader
    ) throws -> Bool {
        try ExternalTokens.keys(self, for: algorithm, secrets).contains(where: \.isSecret)
    }
}
