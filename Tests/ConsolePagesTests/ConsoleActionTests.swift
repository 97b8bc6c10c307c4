import ConsolePages
import Testing

@Suite("Actions of the console")
struct ConsoleActionTests {
    private static func action(_ form: String) -> ConsoleAction? {
        FormFields(form).flatMap { ConsoleAction($0) }
    }

    @Test(
        "Each action is the call of its command",
        arguments: [
            ("verb=pause&app=shop", "apps/shop/sync", ["state": "paused"]),
            ("verb=enable&app=shop", "apps/shop/sync", ["state": "enabled"]),
            ("verb=terminate&app=shop&typed=shop", "apps/shop/sync/terminate?confirm=shop", [:]),
            ("verb=disable-user&app=shop&user=5f", "apps/shop/users/5f/disable", [:]),
            ("verb=enable-user&app=shop&user=5f", "apps/shop/users/5f/enable", [:]),
            (
                "verb=confirm&app=shop&email=a%2Bb%40example.com", "apps/shop/pending/confirm",
                ["email": "a+b@example.com"]
            ),
        ]
    )
    func calls(form: String, path: String, body: [String: String]) throws {
        let call = try #require(try Self.action(form)?.call.get())
        #expect(call.path == path)
        #expect(call.body == body)
    }

    @Test("A termination needs the id of the app", arguments: ["", "Shop", "yes", "shop2"])
    func unconfirmed(typed: String) throws {
        let action = try #require(Self.action("verb=terminate&app=shop&typed=\(typed)"))
        #expect(throws: ConsoleAction.Unconfirmed.self) { try action.call.get() }
    }

    @Test(
        "Ids that would change the path are refused",
        arguments: [
            "verb=pause&app=..%2F", "verb=pause&app=", "verb=pause", "verb=pause&app=a%3Fconfirm",
            "verb=disable-user&app=shop&user=a%2Fb", "verb=disable-user&app=shop",
            "verb=enable-user&app=shop&user=", "verb=delete&app=shop", "app=shop",
            "verb=confirm&app=shop&email=", "verb=pause&app=a%00b",
        ]
    )
    func refused(form: String) {
        #expect(Self.action(form) == nil)
    }

    @Test("Forms are decoded as browsers encode them, and bytes that are not text are refused")
    func forms() {
        let fields = FormFields("a=1+2&b=%C3%A4&a=3&c&=x")
        #expect(fields?["a"] == "1 2")
        #expect(fields?["b"] == "ä")
        #expect(fields?["c"] == "")
        for text in ["a=%", "a=%4", "a=%g0", "a=%FF"] { #expect(FormFields(text) == nil) }
        #expect(FormFields.encoded("a b/ä") == "a%20b%2F%C3%A4")
    }
}
