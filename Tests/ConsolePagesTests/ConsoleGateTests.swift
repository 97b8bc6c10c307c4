import ConsolePages
import Testing

@Suite("The console's gate")
struct ConsoleGateTests {
    private static let gate = ConsoleGate(key: "k3y", token: "t0ken", port: 9466)
    private static let cookie = "other=1; realm_console_9466=k3y"
    private static let form = "token=t0ken&verb=pause&app=shop"

    private static func request(
        _ target: String = "/",
        host: String? = "127.0.0.1:9466",
        cookie: String? = Self.cookie
    ) -> ConsoleRequest {
        ConsoleRequest(method: "GET", target: target, host: host, cookie: cookie)
    }

    private static func post(
        _ form: String = Self.form,
        host: String = "127.0.0.1:9466",
        origin: String? = "http://127.0.0.1:9466",
        cookie: String? = Self.cookie,
        type: String? = "application/x-www-form-urlencoded",
        site: String? = "same-origin"
    ) -> ConsoleRequest {
        ConsoleRequest(
            method: "POST",
            target: "/",
            host: host,
            origin: origin,
            cookie: cookie,
            contentType: type,
            fetchSite: site,
            body: Array(form.utf8)
        )
    }

    private static func status(_ request: ConsoleRequest) -> Int? {
        guard case .answer(let response) = gate.admit(request) else { return nil }
        return response.status
    }

    @Test("The printed address gives a cookie for this site, and leads to the page")
    func key() throws {
        #expect(Self.gate.address == "http://127.0.0.1:9466/?key=k3y")
        let request = Self.request("/?key=k3y", cookie: nil)
        guard case .answer(let response) = Self.gate.admit(request) else {
            Issue.record("not answered")
            return
        }
        #expect(response.status == 303)
        #expect(response.fields["location"] == "/")
        #expect(
            response.fields["set-cookie"]
                == "realm_console_9466=k3y; HttpOnly; SameSite=Strict; Path=/"
        )
    }

    @Test(
        "Without the key there is nothing to see",
        arguments: [
            (nil, "/"), ("realm_console_9466=k3z", "/"), ("realm_console_9466=", "/"),
            ("realm_console_9467=k3y", "/"), ("k3y", "/?app=shop"), (nil, "/?key=k3z"),
            (nil, "/?key="), ("realm_console_9466=k3yx", "/"),
        ]
    )
    func locked(cookie: String?, target: String) {
        #expect(Self.status(Self.request(target, cookie: cookie)) == 403)
    }

    @Test(
        "A name of another site that resolves to this machine is refused",
        arguments: ["evil.example:9466", "127.0.0.1", "127.0.0.1:80", "localhost.evil:9466", ""]
    )
    func rebinding(host: String) {
        #expect(Self.status(Self.request(host: host)) == 421)
        #expect(Self.status(Self.post(host: host, origin: "http://\(host)")) == 421)
        #expect(Self.status(Self.request(host: nil)) == 421)
    }

    @Test("The page is shown for the app and the users of its query")
    func page() {
        let request = Self.request("/?app=shop&after=u-1&ask=terminate", host: "localhost:9466")
        #expect(
            Self.gate.admit(request)
                == .page(ConsoleGate.View(app: "shop", after: "u-1", asksToTerminate: true))
        )
        #expect(
            Self.gate.admit(Self.request("/?after=..%2Fx"))
                == .page(ConsoleGate.View(app: nil, after: nil, asksToTerminate: false))
        )
    }

    @Test("A form of the page is an action")
    func action() {
        #expect(Self.gate.admit(Self.post()) == .action(.pause(app: "shop")))
        #expect(Self.gate.admit(Self.post(site: nil)) == .action(.pause(app: "shop")))
    }

    @Test("A form of another site, or without this run's token, does nothing")
    func foreignForms() {
        #expect(Self.status(Self.post(origin: "http://evil.example")) == 403)
        #expect(Self.status(Self.post(origin: "null")) == 403)
        #expect(Self.status(Self.post(origin: nil)) == 403)
        #expect(Self.status(Self.post(origin: "http://localhost:9466")) == 403)
        #expect(Self.status(Self.post(site: "cross-site")) == 403)
        #expect(Self.status(Self.post(site: "same-site")) == 403)
        #expect(Self.status(Self.post("token=t0keN&verb=pause&app=shop")) == 403)
        #expect(Self.status(Self.post("verb=pause&app=shop")) == 403)
        #expect(Self.status(Self.post(cookie: nil)) == 403)
        #expect(Self.status(Self.post(type: "text/plain")) == 400)
        #expect(Self.status(Self.post(type: nil)) == 400)
        #expect(Self.status(Self.post("\(Self.form)&x=%zz")) == 400)
        let large = String(repeating: "x", count: ConsoleRequest.maximumBodySizeInBytes)
        #expect(Self.status(Self.post("\(Self.form)&x=\(large)")) == 400)
    }

    @Test("Other methods and paths are refused")
    func others() {
        #expect(Self.status(Self.request("/admin/v1/apps")) == 404)
        #expect(Self.status(Self.request("/?x=%f")) == 400)
        let delete = ConsoleRequest(method: "DELETE", target: "/", host: "127.0.0.1:9466")
        #expect(Self.status(delete) == 405)
    }

    @Test("Each response forbids scripts, foreign content, frames and caches")
    func policy() {
        for target in ["/", "/style.css", "/?key=k3y", "/nothing"] {
            guard case .answer(let response) = Self.gate.admit(Self.request(target, cookie: nil))
            else {
                Issue.record("\(target) is admitted")
                continue
            }
            let policy = response.fields["content-security-policy"] ?? ""
            #expect(policy.contains("default-src 'none'"))
            #expect(policy.contains("frame-ancestors 'none'"))
            #expect(!policy.contains("unsafe") && !policy.contains("script-src"))
            #expect(response.fields["cache-control"] == "no-store")
        }
    }
}
