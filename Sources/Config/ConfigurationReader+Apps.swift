import Settings

extension ConfigurationReader {
    func readApp(_ entry: NodeReader.Entry) -> AppConfiguration? {
        entry.value.mapping { keys in
            keys.notYetSupported("share_connections", "offline_limit", "proxy", "headers")
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
            let tls = keys.section("tls", readTLS)
            guard let appID, let baseURL else { return nil }
            return AppConfiguration(
                name: entry.name,
                appID: appID,
                baseURL: baseURL,
                location: location,
                timeouts: timeouts,
                backoff: backoff,
                tls: tls
            )
        }
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
            // Servers take a client for gone that has been silent for more than ten minutes.
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

    private func readTLS(_ keys: MappingReader) -> TLSConfiguration {
        keys.notYetSupported("client_certificate")
        return TLSConfiguration(
            certificateAuthorityFile: keys.optional("ca_file") { $0.absolutePath() },
            verifiesServer: keys.optional("verify", default: true) { reader in
                let verifies = reader.bool()
                if verifies == false {
                    reader.report(
                        .insecure,
                        severity: .warning,
                        "anyone on the way can pose as the server",
                        remedy: "name its certificate authority in \"ca_file\" instead"
                    )
                }
                return verifies
            }
        )
    }
}
