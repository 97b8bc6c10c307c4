import Settings
import YAML

/// Reads how the servers of an app are reached: proxies and TLS.
struct OutboundReader {
    func readProxy(_ reader: NodeReader) -> ProxyConfiguration? {
        if case .scalar(let scalar) = reader.node.content, scalar.text == "none" {
            return .direct
        }
        return reader.either(
            scalar: { reader in
                readProxyURL(reader).map { .server($0, credentials: nil) }
            },
            collection: { reader in
                reader.mapping(expected: "a URL, a mapping, or \"none\"") { keys in
                    let url = keys.required("url", readProxyURL)
                    let credentials = readProxyCredentials(keys)
                    return url.map { .server($0, credentials: credentials) }
                }
            }
        )
    }

    private func readProxyCredentials(_ keys: MappingReader) -> ProxyConfiguration.Credentials? {
        let username = keys.optional("username") { $0.string() }
        let password = keys.optional("password") { $0.secret() }
        if keys.contains("username") != keys.contains("password") {
            keys.whole.report(
                .conflict,
                "username and password go together",
                remedy: "give both, or none"
            )
        }
        guard let username, let password else { return nil }
        return ProxyConfiguration.Credentials(username: username, password: password)
    }

    private func readProxyURL(_ reader: NodeReader) -> ServiceURL? {
        // Traffic through the proxy is encrypted end to end, so the proxy's own scheme does not
        // matter.
        let url = ServiceURL.read(
            reader,
            schemes: [.http],
            purpose: "lead to a proxy",
            warnsOfExposure: false
        )
        guard let url, !url.path.isEmpty else { return url }
        reader.report(
            .badValue,
            "a proxy has no path",
            remedy: "remove what follows the host and its port"
        )
        return nil
    }

    func readTLS(_ keys: MappingReader) -> TLSConfiguration {
        TLSConfiguration(
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
            },
            clientCertificate: keys.optional("client_certificate", readClientCertificate)
        )
    }

    private func readClientCertificate(
        _ reader: NodeReader
    ) -> TLSConfiguration.ClientCertificate? {
        reader.mapping { keys in
            let certificate = keys.required("certificate") { $0.absolutePath() }
            let key = keys.required("key") { $0.secret() }
            guard let certificate, let key else { return nil }
            return TLSConfiguration.ClientCertificate(certificateFile: certificate, key: key)
        }
    }
}
