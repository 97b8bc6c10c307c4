import Settings
import YAML

/// Reads an entry of `apps`.
struct AppReader {
    private let outbound = OutboundReader()

    func read(_ entry: NodeReader.Entry) -> AppConfiguration? {
        entry.value.mapping { keys in
            let appID = keys.required("app_id") {
                $0.string(
                    matching: Self.isAppID,
                    expected: "up to 128 letters, digits, \"-\", \"_\" and \".\""
                )
            }
            let baseURL = keys.required("base_url") {
                ServiceURL.read($0, schemes: [.https, .http])
            }
            let location = keys.optional("location", readLocation)
            let timeouts = keys.section("timeouts", readTimeouts)
            let backoff = keys.section("backoff", readBackoff)
            let tls = keys.section("tls", outbound.readTLS)
            let sharesConnections = keys.optional("share_connections", default: true) { $0.bool() }
            let offlineLimit = keys.optional("offline_limit", default: .seconds(30 * 86_400)) {
                $0.duration(in: .seconds(3_600) ... .seconds(3_650 * 86_400))
            }
            let proxy = keys.optional("proxy", default: .environment, outbound.readProxy)
            let headers = keys.optional("headers", default: [:], readHeaders)
            let authorization = keys.optional("authorization_header", default: "Authorization") {
                $0.string(matching: Self.isHeaderName, expected: "the name of a header")
            }
            let userAgentSuffix = keys.optional("user_agent_suffix") {
                $0.string(
                    matching: Self.isProductText,
                    expected: "up to 128 printable ASCII characters"
                )
            }
            guard let appID, let baseURL else { return nil }
            return AppConfiguration(
                name: entry.name,
                appID: appID,
                baseURL: baseURL,
                location: location,
                timeouts: timeouts,
                backoff: backoff,
                tls: tls,
                sharesConnections: sharesConnections,
                offlineLimit: offlineLimit,
                proxy: proxy,
                headers: headers,
                authorizationHeader: authorization,
                userAgentSuffix: userAgentSuffix
            )
        }
    }

    /// A token of HTTP.
    static func isHeaderName(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy {
                $0.isASCIILetter || $0.isASCIIDigit || $0.isOne(of: "!#$%&'*+-.^_`|~")
            }
    }

    private static func isProductText(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7e).contains($0) }
    }

    private func readHeaders(_ reader: NodeReader) -> [String: HeaderConfiguration]? {
        let headers = reader.entries { entry -> (String, HeaderConfiguration)? in
            entry.checkHeaderName()
            let value = entry.value.either(
                scalar: { reader in reader.string().map(HeaderConfiguration.text) },
                collection: { reader in reader.secret().map(HeaderConfiguration.secret) }
            )
            return value.map { (entry.name, $0) }
        }
        return Dictionary(headers.compactMap { $0 }) { first, _ in first }
    }

    /// It becomes a part of URLs and is shown everywhere.
    private static func isAppID(_ text: String) -> Bool {
        text.utf8.count <= 128
            && text.utf8.allSatisfy {
                $0.isASCIILetter || $0.isASCIIDigit || $0.isOne(of: "-_.")
            }
    }

    private func readLocation(_ reader: NodeReader) -> FixedLocation? {
        reader.mapping { keys in
            let http = keys.required("http") { ServiceURL.read($0, schemes: [.https, .http]) }
            let webSocket = keys.required("ws") { ServiceURL.read($0, schemes: [.wss, .ws]) }
            guard let http, let webSocket else { return nil }
            return FixedLocation(http: http, webSocket: webSocket)
        }
    }

    private func readTimeouts(_ keys: MappingReader) -> TimeoutConfiguration {
        let standard = TimeoutConfiguration()
        let second = Duration.seconds(1)
        let (tenMinutes, hour) = (second * 600, second * 3_600)
        return TimeoutConfiguration(
            request: keys.optional("request", default: standard.request) {
                $0.duration(in: second...tenMinutes)
            },
            connect: keys.optional("connect", default: standard.connect) {
                $0.duration(in: second...tenMinutes)
            },
            // Servers disconnect a client that is silent for more than ten minutes.
            keepAlive: keys.optional("keep_alive", default: standard.keepAlive) {
                $0.duration(in: second * 5...tenMinutes)
            },
            pong: keys.optional("pong", default: standard.pong) {
                $0.duration(in: second...hour)
            },
            linger: keys.optional("linger", default: standard.linger) {
                $0.duration(in: .zero...hour)
            },
            fastReconnect: keys.optional("fast_reconnect", default: standard.fastReconnect) {
                $0.duration(in: .zero...hour)
            }
        )
    }

    private func readBackoff(_ keys: MappingReader) -> BackoffConfiguration {
        let standard = BackoffConfiguration()
        let range = Duration.milliseconds(10)...Duration.seconds(86_400)
        let initial = keys.optional("initial", default: standard.initial) {
            $0.duration(in: range)
        }
        return BackoffConfiguration(
            initial: initial,
            maximum: keys.optional("maximum", default: max(initial, standard.maximum)) { reader in
                guard let maximum = reader.duration(in: range) else { return nil }
                if maximum < initial {
                    reader.report(
                        .conflict,
                        """
                        \(DurationText.text(of: maximum)) is less than the initial wait, \
                        \(DurationText.text(of: initial))
                        """,
                        remedy: "raise it, or lower \"initial\""
                    )
                }
                return maximum
            },
            multiplier: keys.optional("multiplier", default: standard.multiplier) {
                $0.number(in: 1...100)
            },
            jitter: keys.optional("jitter", default: standard.jitter) { $0.number(in: 0...1) }
        )
    }
}

extension NodeReader.Entry {
    /// A token of HTTP, and none of the headers that the agent sets itself.
    func checkHeaderName() {
        let isToken = AppReader.isHeaderName(name)
        let isOurs =
            [
                "host", "authorization", "connection", "upgrade", "content-length", "user-agent",
                "transfer-encoding",
            ].contains(name.lowercased()) || name.lowercased().hasPrefix("sec-websocket-")
        guard !isToken || isOurs else { return }
        value.diagnostics.report(
            Diagnostic(
                at: nameLocation,
                isToken ? .conflict : .badValue,
                value.path,
                isToken
                    ? "the agent sets this header itself"
                    : "\(quoted(name)) is not a header name",
                remedy: isToken ? "remove it" : "use letters, digits and \"-\""
            )
        )
    }
}
