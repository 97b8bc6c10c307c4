import Settings

/// Reads an entry of `users`.
struct UserReader {
    let apps: Declarations<AppConfiguration>

    private enum ProviderName: String, CaseIterable {
        case anonymous
        case emailPassword = "email-password"
        case apiKey = "api-key"
        case jwt
        case function
    }

    func read(_ entry: NodeReader.Entry) -> UserConfiguration? {
        entry.value.mapping { keys in
            let app = keys.required("app") { apps.resolve($0, section: "apps") }
            let provider = readProvider(keys)
            guard let app, let provider else { return nil }
            return UserConfiguration(name: entry.name, app: app, provider: provider)
        }
    }

    private func readProvider(_ keys: MappingReader) -> UserConfiguration.Provider? {
        let word = keys.required("provider") { $0.choice(of: ProviderName.self) }
        func key<Value>(
            _ name: String,
            of provider: ProviderName,
            isRequired: Bool = true,
            _ read: (NodeReader) -> Value?
        ) -> Value? {
            keys.dependent(
                name,
                on: "provider",
                being: [provider],
                chosen: word,
                isRequired: isRequired,
                read
            )
        }
        let email = key("email", of: .emailPassword) { $0.string() }
        let password = key("password", of: .emailPassword) { $0.secret() }
        let registers = key("register", of: .emailPassword, isRequired: false) { $0.bool() }
        let apiKey = key("api_key", of: .apiKey) { $0.secret() }
        let token = key("token", of: .jwt, readToken)
        let payload = key("payload", of: .function, isRequired: false) { $0.secret() }
        switch word {
        case nil: return nil
        case .anonymous: return .anonymous
        case .emailPassword:
            guard let email, let password else { return nil }
            return .emailPassword(
                email: email,
                password: password,
                registers: registers ?? false
            )
        case .apiKey: return apiKey.map(UserConfiguration.Provider.apiKey)
        case .jwt: return token.map(UserConfiguration.Provider.jwt)
        case .function: return .function(payload: payload)
        }
    }

    private func readToken(_ reader: NodeReader) -> UserConfiguration.TokenSource? {
        reader.secret(
            otherForms: [("command", "{ command: [PROGRAM, ARGUMENT, …] }")],
            { .secret($0) },
            other: { _, value in
                value.command().map(UserConfiguration.TokenSource.command)
            }
        )
    }
}
