import Config
import NIOSSL
import Outbound
import RealmSync
import Settings

extension ServerAccess {
    /// Access to an app's servers; reads files and secrets now.
    init(
        to app: AppConfiguration,
        userAgent: String,
        secrets: SecretSource = .ofProcess,
        authorities: SystemAuthorities = .ofSystem
    ) throws(UnusableSetting) {
        let path = "apps.\(app.name)"
        var headers: [(name: String, value: String)] = []
        for (name, value) in app.headers.sorted(by: { $0.key < $1.key }) {
            headers.append(
                (name, try Self.text(of: value, at: "\(path).headers.\(name)", secrets))
            )
        }
        let product = [userAgent, app.userAgentSuffix].compactMap { $0 }.joined(separator: " ")
        self.init(
            headers: [(name: "User-Agent", value: product)] + headers,
            tls: try Self.tls(of: app, at: "\(path).tls", secrets, authorities),
            proxies: try Self.proxies(app.proxy, at: "\(path).proxy", secrets)
        )
    }

    private static func text(
        of value: HeaderConfiguration,
        at path: String,
        _ secrets: SecretSource
    ) throws(UnusableSetting) -> String {
        switch value {
        case .text(let text): text
        case .secret(let reference): try secret(reference, at: path, secrets)
        }
    }

    private static func tls(
        of app: AppConfiguration,
        at path: String,
        _ secrets: SecretSource,
        _ authorities: SystemAuthorities
    ) throws(UnusableSetting) -> NIOSSL.TLSConfiguration {
        let configuration = app.tls
        var certificate: ClientTLS.Certificate?
        if let files = configuration.clientCertificate {
            let keyPath = "\(path).client_certificate.key"
            certificate = ClientTLS.Certificate(
                file: files.certificateFile,
                key: try secret(files.key, at: keyPath, secrets)
            )
        }
        let files = ClientTLS(
            authorityFile: configuration.certificateAuthorityFile,
            verifiesServer: configuration.verifiesServer,
            certificate: certificate,
            isCertain: app.isEncrypted
        )
        do throws(ClientTLS.Problem) {
            return try files.configuration(system: authorities)
        } catch {
            throw UnusableSetting(
                path: "\(path).\(error.key)",
                problem: error.problem,
                remedy: error.remedy,
                code: error.code
            )
        }
    }

    private static func proxies(
        _ configuration: ProxyConfiguration,
        at path: String,
        _ secrets: SecretSource
    ) throws(UnusableSetting) -> ProxyRules {
        switch configuration {
        case .direct: return .direct
        case .environment: return .environment(ProxyEnvironment(secrets.environment))
        case .server(let url, let credentials):
            var known: ProxyCredentials?
            if let credentials {
                let passwordPath = "\(path).password"
                known = ProxyCredentials(
                    username: credentials.username,
                    password: try secret(credentials.password, at: passwordPath, secrets)
                )
            }
            return .always(ProxyServer(url, credentials: known))
        }
    }

    private static func secret(
        _ reference: SecretReference,
        at path: String,
        _ secrets: SecretSource
    ) throws(UnusableSetting) -> String {
        do throws(SecretSource.Failure) {
            return try secrets.read(reference)
        } catch {
            throw UnusableSetting(
                path: path,
                problem: error.description,
                remedy: "put the secret where the configuration says it is",
                code: "config.secret_unreadable"
            )
        }
    }
}

extension ProxyServer {
    fileprivate init(_ url: ServiceURL, credentials: ProxyCredentials?) {
        let isBracketed = url.host.hasPrefix("[")
        self.init(
            host: isBracketed ? String(url.host.dropFirst().dropLast()) : url.host,
            port: url.port ?? 80,
            credentials: credentials
        )
    }
}

/// A setting that is right as text, and leads to something that cannot be used.
package struct UnusableSetting: Error, Sendable, Equatable {
    /// The key, such as `apps.shop.tls.ca_file`.
    package let path: String
    package let problem: String
    package let remedy: String
    package let code: String
}

extension UnusableSetting: CustomStringConvertible {
    package var description: String { "\(path): \(problem); \(remedy) [\(code)]" }
}
