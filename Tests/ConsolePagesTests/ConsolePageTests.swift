import ConsolePages
import Testing

@Suite("The console's page")
struct ConsolePageTests {
    private static let hostile = "<img src=x onerror=alert(1)>\u{202E}"
    private static let shop = ConsoleState.App(id: "shop", origin: "file", syncState: "enabled")

    private static func state(
        _ app: ConsoleState.App = shop,
        users: [ConsoleState.User] = [],
        pending: [ConsoleState.Pending] = [],
        realms: [ConsoleState.Realm] = [],
        metrics: String = ""
    ) -> ConsoleState {
        ConsoleState(
            obstacle: nil,
            apps: [app, ConsoleState.App(id: "b", origin: "store", syncState: "paused")],
            samples: MetricSamples(metrics),
            detail: ConsoleState.Detail(
                app: app,
                connections: 3,
                sessions: 4,
                realms: realms,
                users: users,
                pending: pending
            )
        )
    }

    private static func page(
        _ state: ConsoleState,
        asks: Bool = false,
        deeds: [ConsoleDeed] = []
    ) -> String {
        let view = ConsoleGate.View(app: "shop", after: nil, asksToTerminate: asks)
        return ConsolePage(token: "t0ken", view: view, deeds: deeds).html(state).markup
    }

    @Test("Names of users, partitions, labels and refusals are text everywhere on the page")
    func hostileNames() {
        let page = Self.page(
            Self.state(
                users: [
                    ConsoleState.User(
                        id: Self.hostile,
                        isDisabled: false,
                        identities: [Self.hostile]
                    )
                ],
                pending: [ConsoleState.Pending(email: Self.hostile, purpose: "confirm")],
                realms: [
                    ConsoleState.Realm(partition: Self.hostile, version: 1, historyBytes: 2)
                ],
                metrics: #"realm_server_log_ins_total{app="shop",provider="\#(Self.hostile)"} 1"#
            ),
            deeds: [ConsoleDeed(title: Self.hostile, refusal: Self.hostile)]
        )
        let escaped = "&lt;img src=x onerror=alert(1)&gt;\u{FFFD}"
        #expect(!page.contains("<img"))
        #expect(!page.contains("\u{202E}"))
        // Two deeds' texts, a provider, a partition, an address and its form's field, a user's id, its
        // form's field and its identity.
        #expect(page.split(separator: escaped, omittingEmptySubsequences: false).count - 1 == 9)
        #expect(!page.contains("<script") && !page.contains(" style=") && !page.contains("http://"))
    }

    @Test("The numbers of each app come from the metrics, and those of other apps are not counted")
    func numbers() {
        let metrics = """
            realm_server_connections{app="shop"} 21
            realm_server_log_ins_total{app="shop",provider="anon-user",outcome="ok"} 22
            realm_server_log_ins_total{app="shop",provider="local-userpass",outcome="InvalidPassword"} 23
            realm_server_client_resets_total{app="shop",code="208"} 24
            realm_server_rejected_writes_total{app="shop"} 25
            realm_server_connections{app="b"} 91

            """
        let page = Self.page(Self.state(metrics: metrics))
        for number in [21, 22, 23, 24, 25, 91] {
            #expect(page.contains("<td class=\"number\">\(number)</td>"), "\(number)")
        }
        #expect(page.contains("provider local-userpass, outcome InvalidPassword"))
        #expect(page.contains("code 208"))
        #expect(page.contains("with 3 connections and 4 sessions"))
    }

    @Test("The page loads itself again, but not while it asks a question")
    func refresh() {
        let meta = "http-equiv=\"refresh\""
        #expect(Self.page(Self.state()).contains(meta))
        let question = Self.page(Self.state(), asks: true)
        #expect(!question.contains(meta))
        #expect(question.contains("name=\"typed\""))
        #expect(question.contains("value=\"terminate\""))
    }

    @Test(
        "Only what the state of sync allows is offered",
        arguments: [
            ("enabled", ["pause"], true), ("paused", ["enable"], true),
            ("terminated", ["enable"], false),
        ]
    )
    func offers(state: String, verbs: [String], terminates: Bool) {
        let app = ConsoleState.App(id: "shop", origin: "file", syncState: state)
        let page = Self.page(Self.state(app))
        for verb in ["pause", "enable"] {
            #expect(
                page.contains("name=\"verb\" value=\"\(verb)\"") == verbs.contains(verb),
                "\(verb)"
            )
        }
        #expect(page.contains("ask=terminate") == terminates)
    }

    @Test("Users can be disabled or enabled, and accounts that wait for confirmation confirmed")
    func users() {
        let page = Self.page(
            Self.state(
                users: [
                    ConsoleState.User(id: "u1", isDisabled: false, identities: ["anon-user"]),
                    ConsoleState.User(id: "u2", isDisabled: true, identities: []),
                ],
                pending: [
                    ConsoleState.Pending(email: "a@example.com", purpose: "confirm"),
                    ConsoleState.Pending(email: "b@example.com", purpose: "reset"),
                ]
            )
        )
        #expect(page.contains("value=\"disable-user\""))
        #expect(page.contains("value=\"enable-user\""))
        #expect(page.contains("name=\"email\" value=\"a@example.com\""))
        #expect(!page.contains("name=\"email\" value=\"b@example.com\""))
        let forms = page.split(separator: "<form").count - 1
        let tokens = page.split(separator: "name=\"token\" value=\"t0ken\"").count - 1
        #expect(forms == tokens)
    }

    @Test("Long lists end with a link or a number of what is left")
    func longLists() {
        let users = (0..<101).map {
            ConsoleState.User(id: "user\($0)", isDisabled: false, identities: [])
        }
        let realms = (0..<103).map {
            ConsoleState.Realm(partition: "\"p\($0)\"", version: 1, historyBytes: 0)
        }
        let page = Self.page(Self.state(users: users, realms: realms))
        #expect(page.contains("/?app=shop&amp;after=user99"))
        #expect(!page.contains("user100"))
        #expect(page.contains("3 more realms are not shown"))
    }

    @Test("Deeds are shown with their outcome, and a server that does not respond with the reason")
    func outcomes() {
        let deeds = [
            ConsoleDeed(title: "pause sync of shop", refusal: nil),
            ConsoleDeed(title: "enable sync of b", refusal: "no"),
        ]
        let page = Self.page(Self.state(), deeds: deeds)
        #expect(page.contains("<span class=\"good\">done</span>: pause sync of shop"))
        #expect(page.contains("<span class=\"bad\">refused</span>: enable sync of b: no"))
        let view = ConsoleGate.View(app: nil, after: nil, asksToTerminate: false)
        let away = ConsolePage(token: "t", view: view, deeds: []).html(failure: "no <server>")
        #expect(away.markup.contains("no &lt;server&gt;"))
        #expect(away.markup.contains("http-equiv=\"refresh\""))
    }
}
