import BSON
import Changesets

/// Turns log-in providers into configuration and stubs (moving an app, 5).
struct ProviderConversion {
    let appID: String
    let functions: [String: String]
    private(set) var findings = ImportFindings()
    /// Programs by file name.
    private(set) var stubs: [String: String] = [:]

    init(appID: String, functions: [String: String]) {
        self.appID = appID
        self.functions = functions
    }

    private static let directory = "/etc/realm-server.d"

    mutating func write(_ providers: [ExportedProvider], to text: inout ConfigurationText) {
        let enabled = providers.filter { $0.content["disabled"]?.bool != true }
        for provider in enabled where provider.type.hasPrefix("oauth2-") {
            findings.add(
                ImportFinding(
                    .error,
                    "import.provider_unsupported",
                    in: provider.file,
                    provider.type,
                    "users cannot log in with \(provider.type.dropFirst(7))",
                    remedy: "verify its tokens with the jwt provider, and link these users"
                )
            )
        }
        func provider(_ type: String) -> ExportedProvider? { enabled.first { $0.type == type } }
        text.section("providers") { text in
            text.line("anonymous: \(provider("anon-user") != nil)")
            if let provider = provider("local-userpass") { writeEmailPassword(provider, to: &text) }
            text.line("api_key: \(provider("api-key") != nil)")
            if let provider = provider("custom-token") { writeJWT(provider, to: &text) }
            if let provider = provider("custom-function") {
                let name = provider.content["config"]?["authFunctionName"]?.text ?? "function"
                let path = stub(name, for: "log-in of users", in: provider.file)
                text.line("function: { command: [\(path)] }")
            }
        }
        if provider("anon-user") != nil {
            findings.add(
                ImportFinding(
                    .warning,
                    "import.anonymous_users",
                    "anon-user",
                    "SDKs remove anonymous users with their files at the first contact with "
                        + "another server",
                    remedy: "let the app copy such a realm before it connects; see the manual"
                )
            )
        }
    }

    // MARK: Programs

    /// The path of a stub, in quotes if that is needed.
    private mutating func stub(_ name: String, for purpose: String, in file: String) -> String {
        let safe = String(
            name.unicodeScalars.map { scalar in
                scalar.isASCII
                    && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                        || scalar == "_" || scalar == "-")
                    ? Character(scalar) : "_"
            }
        )
        let source = functions[name]
        stubs[safe] = StubProgram.text(for: purpose, source: source)
        findings.add(
            ImportFinding(
                .warning,
                "import.function",
                in: source ?? file,
                name,
                "functions are not translated; hooks/\(appID)/\(safe) refuses every request",
                remedy: "write the program, see the manual, Programs"
            )
        )
        return ConfigurationText.quoted("\(Self.directory)/hooks/\(appID)/\(safe)")
    }

    private mutating func writeEmailPassword(
        _ provider: ExportedProvider,
        to text: inout ConfigurationText
    ) {
        let config = provider.content["config"]
        func isSet(_ key: String) -> Bool { config?[key]?.bool ?? false }
        let confirmsAtOnce = isSet("autoConfirm")
        let asksFunction = isSet("runConfirmationFunction") && !confirmsAtOnce
        let resetByFunction = isSet("runResetFunction")
        let sendsMail = !confirmsAtOnce && !asksFunction || !resetByFunction
        text.section("email_password") { text in
            text.line("auto_confirm: \(confirmsAtOnce)")
            text.line("min_length: 6")
            if sendsMail {
                let path = stub("mail", for: "mails to users", in: provider.file)
                text.section("mail") { text in
                    text.line("command: [\(path)]")
                    for (key, source) in [
                        ("confirm_url", "emailConfirmationUrl"), ("reset_url", "resetPasswordUrl"),
                    ] {
                        guard let url = config?[source]?.text, Self.isLink(url) else { continue }
                        text.line("\(key): \(ConfigurationText.quoted(url))")
                    }
                }
            }
            if asksFunction {
                let name = config?["confirmationFunctionName"]?.text ?? "confirm"
                let path = stub(name, for: "confirmation of accounts", in: provider.file)
                text.line("confirmation_function: { command: [\(path)] }")
            }
            if resetByFunction {
                let name = config?["resetFunctionName"]?.text ?? "reset"
                let path = stub(name, for: "resets of passwords", in: provider.file)
                text.line("reset_function: { command: [\(path)] }")
            }
        }
    }

    private static func isLink(_ url: String) -> Bool {
        url.contains("://") && !url.contains("#") && url.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
    }

    // MARK: Tokens of third parties

    private mutating func writeJWT(_ provider: ExportedProvider, to text: inout ConfigurationText) {
        let config = provider.content["config"]
        guard let metadata = metadata(of: provider) else { return }
        let usesKeySet = config?["useJWKURI"]?.bool ?? false
        let algorithm = usesKeySet ? "RS256" : config?["signingAlgorithm"]?.text ?? "HS256"
        let keys = secretNames(of: provider)
        guard usesKeySet || !keys.isEmpty, ["HS256", "RS256"].contains(algorithm) else {
            findings.add(
                ImportFinding(
                    .error,
                    "import.provider_unsupported",
                    in: provider.file,
                    "custom-token",
                    "it names no signing key of a known algorithm; the provider is left out",
                    remedy: "configure jwt by hand"
                )
            )
            return
        }
        text.section("jwt") { text in
            text.line("algorithm: \(algorithm)")
            if usesKeySet {
                let path = "\(Self.directory)/secrets/\(appID)/keys.json"
                let url = config?["jwkURI"]?.text ?? "?"
                text.line("key_set: { file: \(path) }")
                findings.add(
                    ImportFinding(
                        .warning,
                        "import.secret",
                        in: provider.file,
                        "custom-token",
                        "the keys are not in the export",
                        remedy: "fetch \(url) into \(path), and again when the keys change"
                    )
                )
            } else {
                writeKeys(keys, algorithm, provider, to: &text)
            }
            let audiences = audiences(config?["audience"])
            if !audiences.isEmpty {
                text.line("audience: \(ConfigurationText.list(audiences))")
                if config?["requireAnyAudience"]?.bool == false, audiences.count > 1 {
                    text.line("audience_match: all")
                }
            }
            guard !metadata.isEmpty else { return }
            text.section("metadata") { text in
                for claim in metadata { text.line(claim) }
            }
        }
    }

    private mutating func writeKeys(
        _ keys: [String],
        _ algorithm: String,
        _ provider: ExportedProvider,
        to text: inout ConfigurationText
    ) {
        text.section(algorithm == "HS256" ? "secret" : "public_key") { text in
            for key in keys.prefix(3) {
                let path = "\(Self.directory)/secrets/\(appID)/\(key)"
                text.line("- { file: \(ConfigurationText.quoted(path)) }")
                findings.add(
                    ImportFinding(
                        .warning,
                        "import.secret",
                        in: provider.file,
                        key,
                        "the key is not in the export",
                        remedy: "write it to \(path), mode 0600"
                    )
                )
            }
        }
        for key in keys.dropFirst(3) {
            findings.add(
                ImportFinding(
                    .error,
                    "import.secret",
                    in: provider.file,
                    key,
                    "a provider has three keys at most; this one is left out",
                    remedy: "put the keys into a key_set"
                )
            )
        }
    }

    private func secretNames(of provider: ExportedProvider) -> [String] {
        let secrets = provider.content["secret_config"]?["signingKeys"]
        return (secrets?.elements ?? []).compactMap(\.text).map { name in
            String(
                name.map {
                    $0.isASCII && ($0.isLetter || $0.isNumber || "_-.".contains($0)) ? $0 : "_"
                }
            )
        }.filter { !$0.isEmpty && $0.first != "." }
    }

    private func audiences(_ tree: JSONTree?) -> [String] {
        let texts = tree?.text.map { [$0] } ?? (tree?.elements ?? []).compactMap(\.text)
        return texts.filter { !$0.isEmpty }
    }

    /// Lines of YAML; nil if a claim without which the provider would let more users in is lost.
    private mutating func metadata(of provider: ExportedProvider) -> [String]? {
        var lines: [String] = []
        let list =
            provider.content["metadata_fields"] ?? provider.content["config"]?["metadata_fields"]
        for (index, claim) in (list?.elements ?? []).enumerated() {
            guard let name = claim["name"]?.text, !name.isEmpty else { continue }
            let isRequired = claim["required"]?.bool ?? false
            guard !name.contains("\\") else {
                findings.add(
                    ImportFinding(
                        .error,
                        "import.jwt_claim",
                        in: provider.file,
                        "custom-token.metadata_fields[\(index)]",
                        "the path \(name) has escaped dots"
                            + (isRequired
                                ? ", and the claim is required: the provider is left out"
                                : ": the claim is dropped"),
                        remedy: "add it by hand: the server reads such paths, too"
                    )
                )
                if isRequired { return nil }
                continue
            }
            let given = claim["field_name"]?.text.flatMap { $0.isEmpty ? nil : $0 }
            let field = given ?? name.split(separator: ".").last.map(String.init) ?? name
            lines.append(
                "- { name: \(ConfigurationText.quoted(name)), "
                    + "field_name: \(ConfigurationText.quoted(field)), required: \(isRequired) }"
            )
        }
        return lines
    }
}
