import Config
import FoundationEssentials
import Outbound
import RealmSync
import Settings
import TestSupport
import Testing

@testable import Agent

@Suite("How an app's servers are reached")
struct ServerAccessTests {
    private let temporary: TemporaryDirectory

    init() throws {
        self.temporary = try TemporaryDirectory()
    }

    private func file(_ name: String, _ text: String) throws -> String {
        let path = temporary.file(name)
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    private func access(
        _ settings: String,
        environment: [String: String] = [:],
        baseURL: String = "https://sync.example.com",
        authorities: SystemAuthorities = .ofSystem
    ) throws -> ServerAccess {
        let text = """
            apps: { shop: { app_id: shop, base_url: "\(baseURL)", \(settings) } }
            """
        let loaded = ConfigurationParser.load(
            main: ConfigurationSource(file: "test.yaml", bytes: Array(text.utf8)),
            dropIns: [],
            inputs: ConfigurationInputs(readFile: { _ in .success([]) })
        )
        #expect(loaded.diagnostics.isEmpty, "\(loaded.diagnostics)")
        return try ServerAccess(
            to: try #require(loaded.configuration?.apps.first),
            userAgent: "realm-agent/1",
            secrets: SecretSource(environment: environment),
            authorities: authorities
        )
    }

    @Test("User agent and headers, also those kept as secrets")
    func headers() throws {
        let access = try access(
            "user_agent_suffix: till/7, headers: { X-B: { env: TOKEN }, X-A: text }",
            environment: ["TOKEN": "hunter2"]
        )
        #expect(access.headers.map(\.name) == ["User-Agent", "X-A", "X-B"])
        #expect(access.headers.map(\.value) == ["realm-agent/1 till/7", "text", "hunter2"])
    }

    @Test("The proxy of the configuration, of the environment, or none")
    func proxies() throws {
        let target = ProxyTarget(host: "sync.example.com", port: 443, isSecure: true)
        let environment = ["HTTPS_PROXY": "http://env:1", "SECRET": "hunter2"]
        func proxy(_ settings: String) throws -> ProxyServer? {
            try access(settings, environment: environment).proxies.proxy(to: target)
        }
        #expect(try proxy("") == ProxyServer(host: "env", port: 1))
        #expect(try proxy("proxy: none") == nil)
        #expect(try proxy("proxy: \"http://[fd00::1]\"") == ProxyServer(host: "fd00::1", port: 80))
        #expect(
            try proxy(
                "proxy: { url: \"http://p:3128\", username: till, password: { env: SECRET } }"
            )
                == ProxyServer(
                    host: "p",
                    port: 3128,
                    credentials: ProxyCredentials(username: "till", password: "hunter2")
                )
        )
    }

    @Test("What cannot be used is named by its key, with a remedy and a code")
    func unusable() throws {
        let certificate = try file("c.pem", LoopbackCertificate.certificate)
        let key = try file("k.pem", StrangerCertificate.key)
        let cases = [
            (
                "tls: { ca_file: \(key) }",
                "apps.shop.tls.ca_file: \(key) holds no certificate;", "config.bad_certificate"
            ),
            (
                "tls: { client_certificate: { certificate: \(certificate), key: { file: \(key) } } }",
                "apps.shop.tls.client_certificate.key: is not the key of the certificate in",
                "config.bad_certificate"
            ),
            (
                "tls: { client_certificate: { certificate: \(certificate), key: { env: NO } } }",
                "apps.shop.tls.client_certificate.key: the environment variable NO is not set;",
                "config.secret_unreadable"
            ),
            (
                "proxy: { url: \"http://p\", username: till, password: { env: NO } }",
                "apps.shop.proxy.password: the environment variable NO is not set;",
                "config.secret_unreadable"
            ),
            (
                "headers: { X-A: { file: /nowhere } }",
                "apps.shop.headers.X-A: the file /nowhere cannot be read: there is no such file;",
                "config.secret_unreadable"
            ),
        ]
        for (settings, message, code) in cases {
            do {
                _ = try access(settings)
                Issue.record("\(settings) was taken")
            } catch let error as UnusableSetting {
                #expect(error.description.hasPrefix(message), "\(error)")
                #expect(error.code == code)
            }
        }
    }

    @Test("Without authorities only an app that is reached with TLS is an error")
    func noAuthorities() throws {
        let plain = "http://127.0.0.1:9090"
        let nothing = SystemAuthorities(files: [], directories: [])
        _ = try access("", baseURL: plain, authorities: nothing)
        let secure = "location: { http: \"http://127.0.0.1:1\", ws: \"wss://ws.example.com\" }"
        for (settings, url) in [("", "https://sync.example.com"), (secure, plain)] {
            let error = #expect(throws: UnusableSetting.self) {
                try access(settings, baseURL: url, authorities: nothing)
            }
            #expect(error?.path == "apps.shop.tls.ca_file")
            #expect(error?.code == "config.no_authorities")
        }
    }
}
