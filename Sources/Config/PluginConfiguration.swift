package import Settings

/// A handler of what happens to realms, under the name that realms refer to it by (section
/// `plugins`; interfaces, 7).
package struct PluginConfiguration: Hashable, Sendable {
    package var name: String
    package var kind: Kind

    /// The kinds of plugin that `use` selects, each with its options.
    package enum Kind: Hashable, Sendable {
        /// `log { level }`, `warn` by default.
        case log(level: LogConfiguration.Level)
        case exec(Exec)
        case webhook(Webhook)
        /// `backup-realm { directory, keep }`: the newest `keep` copies of a realm stay, 5 by default.
        case backupRealm(directory: String, keep: Int)
        /// `export-unsynced { directory }`
        case exportUnsynced(directory: String)
        /// `suspend { for }`; nil for no end.
        case suspend(duration: Duration?)
        /// `relogin { at_most: 3 per 1h }`, which is also the default.
        case relogin(Allowance)
        /// `notify-systemd { unit }`
        case notifySystemd(unit: String)
    }

    /// `exec { command, timeout, environment }`: the program and its arguments, no shell.
    package struct Exec: Hashable, Sendable {
        package static let defaultTimeout = Duration.seconds(10)

        /// The first is an absolute path; there is at least one.
        package var command: [String]
        package var timeout: Duration
        /// The program's environment, in addition to `PATH` and `LANG`.
        package var environment: [String: String]

        package init(
            command: [String],
            timeout: Duration = Self.defaultTimeout,
            environment: [String: String] = [:]
        ) {
            self.command = command
            self.timeout = timeout
            self.environment = environment
        }
    }

    /// `webhook { url, headers, timeout }`
    package struct Webhook: Hashable, Sendable {
        package static let defaultTimeout = Duration.seconds(10)

        /// `https`, or `http`.
        package var url: String
        package var headers: [String: HeaderValue]
        package var timeout: Duration

        package init(
            url: String,
            headers: [String: HeaderValue] = [:],
            timeout: Duration = Self.defaultTimeout
        ) {
            self.url = url
            self.headers = headers
            self.timeout = timeout
        }
    }

    /// A header is plain text, or a secret kept elsewhere.
    package enum HeaderValue: Hashable, Sendable {
        case text(String)
        case secret(SecretReference)
    }

    /// A rate: `3 per 1h`.
    package struct Allowance: Hashable, Sendable {
        package var count: Int
        package var window: Duration

        package init(count: Int = 3, window: Duration = .seconds(3600)) {
            self.count = count
            self.window = window
        }
    }

    package init(name: String, kind: Kind) {
        self.name = name
        self.kind = kind
    }
}
