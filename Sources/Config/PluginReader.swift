import Settings

/// Reads an entry of `plugins`.
struct PluginReader {
    private enum UseName: String, CaseIterable {
        case log, exec, webhook, suspend, relogin
        case backupRealm = "backup-realm"
        case exportUnsynced = "export-unsynced"
        case notifySystemd = "notify-systemd"
    }

    func read(_ entry: NodeReader.Entry) -> PluginConfiguration? {
        entry.value.mapping { keys in
            readKind(keys).map { PluginConfiguration(name: entry.name, kind: $0) }
        }
    }

    private func readKind(_ keys: MappingReader) -> PluginConfiguration.Kind? {
        let use = keys.required("use") { $0.choice(of: UseName.self) }
        func key<Value>(
            _ name: String,
            of uses: UseName...,
            isRequired: Bool = false,
            _ read: (NodeReader) -> Value?
        ) -> Value? {
            keys.dependent(
                name,
                on: "use",
                being: uses,
                chosen: use,
                isRequired: isRequired,
                read
            )
        }
        let level = key("level", of: .log) { $0.choice(of: LogConfiguration.Level.self) }
        let command = key("command", of: .exec, isRequired: true) { $0.command() }
        let url = key("url", of: .webhook, isRequired: true) {
            ServiceURL.read($0, schemes: [.https, .http])
        }
        let timeout = key("timeout", of: .exec, .webhook) {
            $0.duration(in: .milliseconds(100) ... .seconds(600))
        }
        let environment = key("environment", of: .exec) { $0.environment() }
        let headers = key("headers", of: .webhook) { readWebhookHeaders($0) }
        let directory = key("directory", of: .backupRealm, .exportUnsynced, isRequired: true) {
            $0.absolutePath()
        }
        let keep = key("keep", of: .backupRealm) { $0.integer(in: 1...10_000) }
        let duration = key("for", of: .suspend) {
            $0.duration(in: .seconds(1) ... .seconds(366 * 86_400))
        }
        let allowance = key("at_most", of: .relogin) {
            $0.rate(
                word: "per",
                counts: 1...1_000,
                periods: .seconds(1) ... .seconds(366 * 86_400)
            )
        }
        let unit = key("unit", of: .notifySystemd, isRequired: true) {
            $0.string(
                matching: Self.isUnit,
                expected: "the name of a unit, such as tell-ops.service"
            )
        }
        switch use {
        case nil: return nil
        case .log: return .log(level: level ?? .warn)
        case .exec:
            return command.map {
                .exec(
                    PluginConfiguration.Exec(
                        command: $0,
                        timeout: timeout ?? PluginConfiguration.Exec.defaultTimeout,
                        environment: environment ?? [:]
                    )
                )
            }
        case .webhook:
            return url.map {
                .webhook(
                    PluginConfiguration.Webhook(
                        url: $0.description,
                        headers: headers ?? [:],
                        timeout: timeout ?? PluginConfiguration.Webhook.defaultTimeout
                    )
                )
            }
        case .backupRealm: return directory.map { .backupRealm(directory: $0, keep: keep ?? 5) }
        case .exportUnsynced: return directory.map { .exportUnsynced(directory: $0) }
        case .suspend: return .suspend(duration: duration)
        case .relogin:
            return .relogin(
                allowance.map {
                    PluginConfiguration.Allowance(count: $0.count, window: $0.period)
                } ?? PluginConfiguration.Allowance()
            )
        case .notifySystemd: return unit.map { .notifySystemd(unit: $0) }
        }
    }

    private func readWebhookHeaders(
        _ reader: NodeReader
    ) -> [String: PluginConfiguration.HeaderValue]? {
        let headers = reader.entries { entry -> (String, PluginConfiguration.HeaderValue)? in
            let value = entry.value.either(
                scalar: { reader in
                    reader.string().map(PluginConfiguration.HeaderValue.text)
                },
                collection: { reader in
                    reader.secret().map(PluginConfiguration.HeaderValue.secret)
                }
            )
            return value.map { (entry.name, $0) }
        }
        return Dictionary(headers.compactMap { $0 }) { first, _ in first }
    }

    private static func isUnit(_ text: String) -> Bool {
        text.utf8.count <= 255 && text.contains(".")
            && text.utf8.allSatisfy {
                $0.isASCIILetter || $0.isASCIIDigit || $0.isOne(of: ":-_.\\@")
            }
    }
}
