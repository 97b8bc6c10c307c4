import Settings

/// The content of `apps.APP.providers`: the ways in which users of an app log in.
struct ProviderSettings {
    let anonymous: Bool
    let emailPassword: EmailPasswordConfiguration?
    let apiKey: Bool
    let jwt: JWTConfiguration?
    let function: HookConfiguration?

    init(reading keys: MappingReader, _ files: NamedFiles?) {
        self.apiKey = keys.optional("api_key", default: false) { $0.bool() }
        self.jwt = keys.optional("jwt") { $0.jwt(files) }
        self.function = keys.optional("function") { $0.hook(files) }
        self.anonymous = keys.optional("anonymous", default: false) { $0.bool() }
        self.emailPassword = keys.optional("email_password") { node in
            node.mapping { EmailPasswordConfiguration(reading: $0, files) }
        }
    }
}

extension EmailPasswordConfiguration {
    fileprivate init(reading keys: MappingReader, _ files: NamedFiles?) {
        let confirmation = keys.optional("confirmation_function") { $0.hook(files) }
        let isDecidedByFunction = keys.contains("confirmation_function")
        let confirmsAtOnce = keys.optional("auto_confirm", default: !isDecidedByFunction) { node in
            let confirmsAtOnce = node.bool()
            if confirmsAtOnce == true, isDecidedByFunction {
                node.report(
                    .conflict,
                    "leaves confirmation_function nothing to decide",
                    remedy: "remove one of them"
                )
            }
            return confirmsAtOnce
        }
        self.init(
            confirmsAtOnce: confirmsAtOnce,
            minimumLength: keys.optional("min_length", default: Self().minimumLength) {
                $0.integer(in: 1...Self.maximumLength)
            },
            mail: keys.optional("mail") { node in
                node.mapping { MailConfiguration(reading: $0, files) }
            },
            confirmationFunction: confirmation,
            resetFunction: keys.optional("reset_function") { $0.hook(files) },
            hidesAccounts: keys.optional("hide_accounts", default: false) { $0.bool() }
        )
    }
}
