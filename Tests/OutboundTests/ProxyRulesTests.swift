import Testing

@testable import Outbound

@Suite("The choice of a proxy")
struct ProxyRulesTests {
    private func proxy(
        to url: String,
        _ variables: [String: String]
    ) throws -> String? {
        let target = try #require(ProxyTarget(url: url))
        let rules = ProxyRules.environment(ProxyEnvironment(variables))
        return try rules.proxy(to: target).map { proxy in
            let user = proxy.credentials.map { "\($0.username):\($0.password)@" }
            return "\(user ?? "")\(proxy)"
        }
    }

    @Test("Lower-case variables win over upper-case ones, and each scheme has its own")
    func variables() throws {
        let variables = [
            "https_proxy": "http://one:1", "HTTPS_PROXY": "http://two:2", "HTTP_PROXY": "three:3",
        ]
        #expect(try proxy(to: "https://sync.example.com", variables) == "one:1")
        #expect(try proxy(to: "http://sync.example.com", variables) == "three:3")
        #expect(try proxy(to: "https://sync.example.com", [:]) == nil)
        #expect(try proxy(to: "https://sync.example.com", ["https_proxy": ""]) == nil)
        #expect(try proxy(to: "http://sync.example.com", ["https_proxy": "one:1"]) == nil)
    }

    @Test(
        "The forms of a proxy's URL",
        arguments: [
            ("http://proxy:3128", "proxy:3128"), ("proxy:3128/", "proxy:3128"),
            ("HTTP://Proxy", "Proxy:80"), ("http://[fd00::1]:3128", "[fd00::1]:3128"),
            ("http://me:p%40ss:w@proxy:3128", "me:p@ss:w@proxy:3128"),
            ("me@proxy:3128", "me:@proxy:3128"),
        ]
    )
    func forms(value: String, expected: String) throws {
        #expect(try proxy(to: "https://a.example.com", ["https_proxy": value]) == expected)
    }

    @Test(
        "An unusable proxy variable is an error without its value, if it applies",
        arguments: [
            "socks5://proxy:1080", "https://proxy", "http://", "http://proxy:0", "proxy:x",
            "http://me:hunter2%zz@proxy",
        ]
    )
    func unusable(value: String) throws {
        let variables = ["https_proxy": value, "no_proxy": "b.example.com"]
        #expect(throws: ProxyVariableProblem(variable: "https_proxy")) {
            try proxy(to: "https://a.example.com", variables)
        }
        #expect(!ProxyVariableProblem(variable: "https_proxy").description.contains("hunter2"))
        #expect(try proxy(to: "https://b.example.com", variables) == nil)
        #expect(try proxy(to: "http://a.example.com", variables) == nil)
    }

    @Test(
        "Targets that no_proxy excludes",
        arguments: [
            ("*", "https://a.example.com", true),
            ("example.com", "https://a.example.com", true),
            ("example.com", "https://example.com:9443", true),
            (".example.com", "https://a.b.example.com", true),
            ("*.example.com", "https://a.example.com", true),
            ("EXAMPLE.com", "https://A.Example.COM", true),
            ("ample.com", "https://example.com", false),
            ("example.com:443", "https://example.com", true),
            ("example.com:444", "https://example.com", false),
            ("a.org, b.org  c.org", "https://c.org", true),
            ("a.org, b.org", "https://c.org", false),
            ("10.0.0.0/8", "https://10.200.3.4", true),
            ("10.0.0.0/8", "https://11.200.3.4", false),
            ("192.168.1.7/32", "https://192.168.1.7:9090", true),
            ("0.0.0.0/0", "https://8.8.8.8", true),
            ("0.0.0.0/0", "https://a.example.com", false),
            ("10.0.0.0/33", "https://10.0.0.1", false),
            ("10.0.0.1", "https://10.0.0.1", true),
            ("[fd00::1]:443", "https://[fd00::1]", true),
            ("fd00::1", "https://[fd00::1]:9443", true),
            ("", "https://a.example.com", false),
            (",,", "https://a.example.com", false),
        ]
    )
    func exceptions(list: String, url: String, isCovered: Bool) throws {
        let proxy = try proxy(to: url, ["https_proxy": "proxy:1", "NO_PROXY": list])
        #expect((proxy == nil) == isCovered)
    }

    @Test(
        "The environment never sends local connections through a proxy",
        arguments: [
            "https://localhost:1", "http://127.0.0.1:9090", "http://127.9.9.9", "https://[::1]:1",
            "http://app.localhost",
        ]
    )
    func thisMachine(url: String) throws {
        let variables = ["http_proxy": "proxy:1", "https_proxy": "proxy:1"]
        #expect(try proxy(to: url, variables) == nil)
        let target = try #require(ProxyTarget(url: url))
        let configured = ProxyServer(host: "proxy", port: 1)
        #expect(try ProxyRules.always(configured).proxy(to: target) == configured)
        #expect(try ProxyRules.direct.proxy(to: target) == nil)
    }

    @Test("Credentials are sent in base64 and never shown")
    func credentials() {
        let credentials = ProxyCredentials(username: "Aladdin", password: "open sesame")
        // The example of RFC 7617, 2.
        #expect(credentials.authorization == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        let proxy = ProxyServer(host: "proxy", port: 1, credentials: credentials)
        var dumped = ""
        dump(proxy, to: &dumped)
        for text in ["\(proxy)", "\(credentials)", String(reflecting: proxy), dumped] {
            #expect(!text.contains("sesame"), "\(text)")
        }
        #expect(
            ProxyFailure.unauthorized.sentence(about: proxy)
                == "the proxy proxy:1 refuses its username and password (HTTP 407)"
        )
    }
}
