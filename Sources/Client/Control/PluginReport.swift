/// A handler and how it has done since the agent started: one element of `GET /v1/plugins`.
package struct PluginReport: Codable, Sendable, Equatable {
    package let name: String
    /// The value of `use`.
    package let use: String
    /// The realms that name it.
    package let realms: [String]
    package let calls: Int
    package let failures: Int
    package let lastFailure: Failure?

    /// The plugin's last failure.
    package struct Failure: Codable, Sendable, Equatable {
        package let at: String
        package let realm: String
        package let code: String
        package let message: String

        package init(at: String, realm: String, code: String, message: String) {
            self.at = at
            self.realm = realm
            self.code = code
            self.message = message
        }
    }

    package init(
        name: String,
        use: String,
        realms: [String],
        calls: Int,
        failures: Int,
        lastFailure: Failure?
    ) {
        self.name = name
        self.use = use
        self.realms = realms
        self.calls = calls
        self.failures = failures
        self.lastFailure = lastFailure
    }
}
