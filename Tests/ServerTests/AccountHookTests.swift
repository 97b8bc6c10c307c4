import JSON
import ServerFixtures
import Testing

@testable import ServerConfig
@testable import ServerHTTP
@testable import ServerStore

/// Checklist lines E4 to E7 of app services, 16: accounts that programs of the operator's look after.
@Suite("App services: confirmation and reset by mail and by function", .timeLimit(.minutes(10)))
struct AccountHookTests {
    private let base = "/app/shop-abcde/auth/providers/local-userpass"
    private let ann = #"{"email":"ann@example.net"}"#

    private func apps(_ settings: EmailPasswordConfiguration) async throws -> TestApps {
        try await TestApps(apps: [
            ServedAppConfiguration(id: TestApps.shop, emailPassword: settings)
        ])
    }

    private func text(_ request: [String: JSONValue]?, _ name: String) -> String {
        guard case .string(let text)? = request?[name] else { return "" }
        return text
    }

    // MARK: Mail

    @Test("E4 The mail brings token and link; the token confirms, once")
    func confirmationMail() async throws {
        try await withTemporaryDirectory { directory in
            let hook = try TestHook(in: directory)
            let mail = MailConfiguration(
                hook: hook.configuration,
                confirmURL: "https://shop.example.com/confirm?app=1"
            )
            let apps = try await apps(.init(confirmsAtOnce: false, mail: mail))
            #expect(await apps.register("Ann@example.net", "correct horse").status == 201)
            let request = try #require(hook.requests.first)
            #expect(request["kind"] == .string("mail"))
            #expect(request["purpose"] == .string("confirm"))
            #expect(request["email"] == .string("ann@example.net"))
            let (token, id) = (text(request, "token"), text(request, "tokenId"))
            #expect(token.utf8.count == 64 && id.utf8.count == 24)
            #expect(
                text(request, "url")
                    == "https://shop.example.com/confirm?app=1&token=\(token)&tokenId=\(id)"
            )
            #expect(await apps.logIn("ann@example.net", "correct horse").status == 401)
            let body = #"{"token":"\#(token)","tokenId":"\#(id)"}"#
            #expect(await apps.call("POST", "\(base)/confirm", body).status == 200)
            #expect(await apps.call("POST", "\(base)/confirm", body).status == 400)
            #expect(await apps.logIn("ann@example.net", "correct horse").status == 200)
        }
    }

    @Test("Where accounts are hidden, known and unknown names get the same responses")
    func hiddenAccounts() async throws {
        try await withTemporaryDirectory { directory in
            let hook = try TestHook(in: directory)
            let mail = MailConfiguration(hook: hook.configuration)
            let apps = try await apps(
                .init(confirmsAtOnce: false, mail: mail, hidesAccounts: true)
            )
            let first = await apps.register("ann@example.net", "correct horse")
            #expect(first.status == 201)
            let token = try #require(hook.requests.first)
            #expect(hook.requests.count == 1)

            // A name that is taken, without effect on its account.
            let again = await apps.register("ann@example.net", "battery staple")
            #expect(again.status == first.status && again.text == first.text)
            #expect(hook.requests.count == 1)
            for path in ["reset/send", "confirm/send"] {
                let known = await apps.call(
                    "POST",
                    "\(base)/\(path)",
                    #"{"email":"ann@example.net"}"#
                )
                let unknown = await apps.call(
                    "POST",
                    "\(base)/\(path)",
                    #"{"email":"eve@example.net"}"#
                )
                #expect(known.status == 202)
                #expect(unknown.status == known.status && unknown.text == known.text)
            }
            #expect(hook.requests.count == 3)
            let fields =
                #"{"token":"\#(text(hook.requests.last, "token"))","#
                + #""tokenId":"\#(text(hook.requests.last, "tokenId"))"}"#
            #expect(text(token, "purpose") == "confirm")
            #expect(await apps.call("POST", "\(base)/confirm", fields).status == 200)
            #expect(await apps.logIn("ann@example.net", "correct horse").status == 200)
            #expect(await apps.logIn("ann@example.net", "battery staple").status == 401)
            // Confirmed already, and a mail that fails.
            try hook.answer("", status: 1)
            for path in ["reset/send", "confirm/send"] {
                let reply = await apps.call(
                    "POST",
                    "\(base)/\(path)",
                    #"{"email":"ann@example.net"}"#
                )
                #expect(reply.status == 202)
            }
        }
    }

    @Test("A mail that cannot be sent keeps the account; a request for another gets the error")
    func failingMail() async throws {
        try await withTemporaryDirectory { directory in
            let hook = try TestHook(in: directory)
            try hook.answer("", status: 1)
            let mail = MailConfiguration(hook: hook.configuration)
            let apps = try await apps(.init(confirmsAtOnce: false, mail: mail))
            let admin = TestAdmin(apps, .testing(apps))
            #expect(await apps.register("ann@example.net", "correct horse").status == 201)
            let pending = try await admin.call("GET", "apps/shop-abcde/pending")
                .decode([PendingReport].self)
            #expect(pending.map(\.email) == ["ann@example.net"])
            for path in ["confirm/send", "reset/send"] {
                let reply = await apps.call("POST", "\(base)/\(path)", ann)
                #expect(reply.status == 503)
                #expect(reply.fields["error_code"] == "MaintenanceInProgress")
            }
            try hook.answer("")
            #expect(await apps.call("POST", "\(base)/confirm/send", ann).status == 202)
            let last = hook.requests.last
            let body = """
                {"token":"\(text(last, "token"))","tokenId":"\(text(last, "tokenId"))"}
                """
            #expect(await apps.call("POST", "\(base)/confirm", body).status == 200)
        }
    }

    @Test("E6 A reset by mail")
    func resetMail() async throws {
        try await withTemporaryDirectory { directory in
            let hook = try TestHook(in: directory)
            let mail = MailConfiguration(hook: hook.configuration, resetURL: "shop://reset")
            let apps = try await apps(.init(mail: mail))
            _ = await apps.register("ann@example.net", "correct horse")
            #expect(hook.requests.isEmpty)
            #expect(await apps.call("POST", "\(base)/reset/send", ann).status == 202)
            let request = try #require(hook.requests.first)
            #expect(request["purpose"] == .string("reset"))
            let (token, id) = (text(request, "token"), text(request, "tokenId"))
            #expect(text(request, "url") == "shop://reset?token=\(token)&tokenId=\(id)")
            let body = #"{"token":"\#(token)","tokenId":"\#(id)","password":"battery staple"}"#
            #expect(await apps.call("POST", "\(base)/reset", body).status == 200)
            #expect(await apps.logIn("ann@example.net", "correct horse").status == 401)
            #expect(await apps.logIn("ann@example.net", "battery staple").status == 200)
        }
    }

    @Test("Mails to an owner are limited over all callers")
    func manyMails() async throws {
        try await withTemporaryDirectory { directory in
            let hook = try TestHook(in: directory)
            let mail = MailConfiguration(hook: hook.configuration)
            let apps = try await apps(.init(mail: mail))
            _ = await apps.register("ann@example.net", "correct horse")
            for index in 0..<5 {
                let reply = await apps.call(
                    "POST",
                    "\(base)/reset/send",
                    ann,
                    address: "192.0.2.\(index)"
                )
                #expect(reply.status == 202)
            }
            let refused = await apps.call("POST", "\(base)/reset/send", ann)
            #expect(refused.status == 429)
            #expect(refused.response.retryAfterInSeconds == 60)
            #expect(hook.requests.count == 5)
            apps.clock.advance(bySeconds: 60)
            #expect(await apps.call("POST", "\(base)/reset/send", ann).status == 202)
        }
    }

    // MARK: Functions

    @Test("E7 A confirmation function answers success, pending, fail, or an invalid status")
    func confirmationFunction() async throws {
        try await withTemporaryDirectory { directory in
            let hook = try TestHook(in: directory)
            let apps = try await apps(
                .init(confirmsAtOnce: false, confirmationFunction: hook.configuration)
            )
            try hook.answer(#"{"status":"success"}"#)
            #expect(await apps.register("bob@example.net", "correct horse").status == 201)
            #expect(await apps.logIn("bob@example.net", "correct horse").status == 200)
            let request = try #require(hook.requests.first)
            #expect(request["kind"] == .string("confirm"))
            #expect(request["username"] == .string("bob@example.net"))
            #expect(request["password"] == nil)

            for answer in [#"{"status":"fail"}"#, #"{"status":"Success"}"#, "true", "", "no"] {
                try hook.answer(answer)
                let reply = await apps.register("ann@example.net", "correct horse")
                #expect(reply.status == 400)
                #expect(
                    reply.fields == [
                        "error": #"failed to confirm user "ann@example.net""#,
                        "error_code": "BadRequest",
                    ]
                )
            }
            // The name was free again each time.
            try hook.answer(#"{"status":"pending"}"#)
            #expect(await apps.register("ann@example.net", "correct horse").status == 201)
            #expect(await apps.logIn("ann@example.net", "correct horse").status == 401)
            #expect(
                await apps.call("POST", "\(base)/confirm/send", ann).fields["error_code"]
                    == "BadRequest"
            )
            try hook.answer(#"{"status":"fail"}"#)
            #expect(await apps.call("POST", "\(base)/confirm/call", ann).status == 400)
            // Who was refused after all is still there.
            try hook.answer(#"{"status":"pending"}"#)
            #expect(await apps.call("POST", "\(base)/confirm/call", ann).status == 202)
            let last = hook.requests.last
            let body = """
                {"token":"\(text(last, "token"))","tokenId":"\(text(last, "tokenId"))"}
                """
            #expect(await apps.call("POST", "\(base)/confirm", body).status == 200)
            #expect(await apps.logIn("ann@example.net", "correct horse").status == 200)
            let again = await apps.call("POST", "\(base)/confirm/call", ann)
            #expect(again.fields["error_code"] == "UserAlreadyConfirmed")
        }
    }

    @Test("E7 A reset function answers success, pending and fail; its request has all members")
    func resetFunction() async throws {
        try await withTemporaryDirectory { directory in
            let hook = try TestHook(in: directory)
            let apps = try await apps(.init(resetFunction: hook.configuration))
            _ = await apps.register("ann@example.net", "correct horse")
            let refresh = await apps.logIn("ann@example.net", "correct horse")
                .fields["refresh_token"]
            func call(_ password: String) async -> TestApps.Reply {
                await apps.call(
                    "POST",
                    "\(base)/reset/call",
                    """
                    {"email":"ann@example.net","password":"\(password)",\
                    "arguments":["blue",{"$numberInt":"5"}]}
                    """
                )
            }
            #expect(await apps.call("POST", "\(base)/reset/send", ann).status == 400)
            try hook.answer(#"{"status":"fail"}"#)
            let failed = await call("correct horse")
            #expect(
                failed.fields["error"] == #"failed to reset password for user "ann@example.net""#
            )
            let request = try #require(hook.requests.first)
            #expect(request["kind"] == .string("reset"))
            #expect(request["currentPasswordValid"] == .bool(true))
            #expect(
                request["arguments"]
                    == .array([.string("blue"), .object(["$numberInt": .string("5")])])
            )
            #expect(await call("short").fields["error_code"] == "BadRequest")
            #expect(hook.requests.count == 1)

            try hook.answer(#"{"status":"pending"}"#)
            #expect(await call("battery staple").status == 202)
            let pending = try #require(hook.requests.last)
            #expect(pending["currentPasswordValid"] == .bool(false))
            #expect(await apps.logIn("ann@example.net", "correct horse").status == 200)
            let body = """
                {"token":"\(text(pending, "token"))","tokenId":"\(text(pending, "tokenId"))",\
                "password":"third password"}
                """
            #expect(await apps.call("POST", "\(base)/reset", body).status == 200)
            #expect(await apps.logIn("ann@example.net", "third password").status == 200)

            try hook.answer(#"{"status":"success"}"#)
            #expect(await call("fourth password").status == 202)
            #expect(await apps.logIn("ann@example.net", "fourth password").status == 200)
            let revoked = await apps.call("POST", "/auth/session", token: refresh)
            #expect(revoked.fields["error_code"] == "InvalidSession")
            let unknown = await apps.call(
                "POST",
                "\(base)/reset/call",
                #"{"email":"x@y.z","password":"long enough"}"#
            )
            #expect(unknown.fields["error_code"] == "UserNotFound")
        }
    }
}
