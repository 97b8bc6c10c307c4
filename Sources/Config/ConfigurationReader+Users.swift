import Settings

extension ConfigurationReader {
    private enum ProviderWord: String, CaseIterable {
        case anonymous
        case emailPassword = "email-password"
    }

    func readUser(
        _ entry: NodeReader.Entry,
        apps: Declarations<AppConfiguration>
    ) -> UserConfiguration? {
        entry.value.mapping { keys in
            keys.notYetSupported("api_key", "token", "payload")
            let app = keys.required("app") { apps.resolve($0, section: "apps") }
            let word = keys.required("provider") {
                $0.choice(of: ProviderWord.self, later: ["api-key", "jwt", "function"])
            }
            keys.allow("email", "password", "register")
            let provider = word.flatMap { readProvider($0, keys) }
            guard let app, let provider else { return nil }
            return UserConfiguration(name: entry.name, app: app, provider: provider)
        }
    }

    private func readProvider(
        _ word: ProviderWord,
        _ keys: MappingReader
    ) -> UserConfiguration.Provider? {
        switch word {
        case .anonymous:
            for key in ["email", "password", "register"] {
                _ = keys.optional(key) { reader in
                    reader.report(
                        .conflict,
                        "an anonymous user has none",
                        remedy: "remove it, or use the provider email-password"
                    )
                }
            }
            return .anonymous
        case .emailPassword:
            let email = keys.required("email") { $0.string() }
            let password = keys.required("password") { $0.secret() }
            let registers = keys.optional("register", default: false) { $0.bool() }
            guard let email, let password else { return nil }
            return .emailPassword(email: email, password: password, registers: registers)
        }
    }
}
