import Settings

/// A program of the operator that decides on log-ins and accounts. It reads one JSON document on
/// standard input and answers with one on standard output.
package struct HookConfiguration: Hashable, Sendable {
    /// An absolute path and its arguments; there is no shell.
    package let command: [String]
    /// Variables besides `LANG` and `PATH`; the server's own environment is not passed.
    package let environment: [String: String]
    /// A program that takes longer is killed. Clients wait a minute for their response.
    package let timeout: Duration

    package init(
        command: [String],
        environment: [String: String] = [:],
        timeout: Duration = Self.usualTimeout
    ) {
        self.command = command
        self.environment = environment
        self.timeout = timeout
    }

    package static let usualTimeout = Duration.seconds(10)
    static let timeouts: ClosedRange<Duration> = .milliseconds(100) ... .seconds(50)

    /// Nil, and reported, without a command.
    init?(reading keys: MappingReader, _ files: NamedFiles?) {
        let command = keys.required("command") { $0.program(files) }
        self.init(command, keys)
    }

    /// Nil without a command.
    init?(readingOptional keys: MappingReader, _ files: NamedFiles?) {
        let command = keys.optional("command") { $0.program(files) }
        self.init(command, keys)
    }

    private init?(_ command: [String]?, _ keys: MappingReader) {
        let timeout = keys.optional("timeout", default: Self.usualTimeout) {
            $0.duration(in: Self.timeouts)
        }
        let environment = keys.optional("environment", default: [:]) { $0.environment() }
        guard let command else { return nil }
        self.init(command: command, environment: environment, timeout: timeout)
    }
}

extension NodeReader {
    fileprivate func program(_ files: NamedFiles?) -> [String]? {
        let command = command()
        if let program = command?.first { files?.checkProgram(program, at: self) }
        return command
    }
}

/// Mails the tokens of accounts to their owners.
package struct MailConfiguration: Hashable, Sendable {
    package let hook: HookConfiguration
    /// The URL to which token and token id are appended for the mail; nil: the program makes its
    /// own link.
    package let confirmURL: String?
    package let resetURL: String?

    package init(hook: HookConfiguration, confirmURL: String? = nil, resetURL: String? = nil) {
        self.hook = hook
        self.confirmURL = confirmURL
        self.resetURL = resetURL
    }

    init?(reading keys: MappingReader, _ files: NamedFiles?) {
        let confirmURL = keys.optional("confirm_url") { $0.linkBase() }
        let resetURL = keys.optional("reset_url") { $0.linkBase() }
        guard let hook = HookConfiguration(reading: keys, files) else { return nil }
        self.init(hook: hook, confirmURL: confirmURL, resetURL: resetURL)
    }
}

extension NodeReader {
    func hook(_ files: NamedFiles?) -> HookConfiguration? {
        mapping { HookConfiguration(reading: $0, files) }
    }

    /// A URL to which a query can be appended; applications may have their own schemes.
    fileprivate func linkBase() -> String? {
        string(
            matching: { text in
                text.contains("://") && !text.contains("#")
                    && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
            },
            expected: "a URL without a fragment, such as https://shop.example.com/confirm"
        )
    }
}
