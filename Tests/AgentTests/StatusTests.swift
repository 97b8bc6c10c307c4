import Config
import Control
import Plugins
import TestSupport
import Testing

@testable import Agent
@testable import RealmSync
@testable import SyncClient
@testable import SyncProtocol

@Suite("The status of a realm, for operators")
struct StatusTests {
    let temporary: TemporaryDirectory

    init() throws {
        self.temporary = try TemporaryDirectory()
    }

    func status(_ phase: SessionPhase) throws -> RealmStatus {
        let text = """
            apps: { shop: { app_id: shop, base_url: "http://127.0.0.1:1" } }
            users: { till: { app: shop, provider: anonymous } }
            realms: { stock: { user: till, partition: { string: p } } }
            """
        let realms = try ConfigurationFixture(text, in: temporary).configuration.realms
        var status = SyncedRealmStatus(.open, partition: "\"p\"")
        let standing = DownloadStatus(isFirstFinished: true, hasCompleted: true, age: .zero)
        status.activity = RealmActivity(phase, standing, OpenOptions())
        status.error = .init(phase)
        let realm = try #require(realms.first)
        return RealmStatus(realm, at: realm.path, status, now: 0)
    }

    @Test("An error of the server shows with the SDKs' number and the address of its log")
    func serverError() async throws {
        let body = """
            {"message":"no","isRecoveryModeDisabled":false,"tryAgain":false,\
            "logURL":"https://log/1","shouldClientReset":false,"action":"ApplicationBug"}
            """
        let message = try ServerMessage(
            decoding: Array("json_error 204 \(body.utf8.count) 1\n\(body)".utf8),
            context: WireContext(mode: .partitionBased, limits: .client)
        )
        guard case .jsonError(let report) = message else {
            Issue.record("unexpected \(message)")
            return
        }
        let problem = ServerProblem(report)
        let status = try status(.inactive(SessionIssue(problem)))
        #expect(status.state == .failed)
        #expect(status.error?.code == "sync.illegal_realm_path")
        #expect(status.remedy == "correct `realms.stock.partition`, then `realm-agent reload`")
        #expect(status.error?.sdkCode == 4)
        #expect(status.error?.logURL == "https://log/1")
        #expect(status.detail == "no [sync.illegal_realm_path]")
        let refused = try self.status(.offline(.loginRequired(reason: "x")))
        #expect(refused.state == .loginRequired)
        #expect(refused.cause == "log-in-refused")
        #expect(refused.error?.sdkCode == 5)
        #expect(try self.status(.bound).error == nil)

        let events = AgentEvents()
        let news = RealmEvent.events(of: .problem(problem, isFatal: true), OpenOptions())
        for event in news { events.publish(event, realm: "stock") }
        var payloads: [EventPayload] = []
        for await record in events.records(after: nil, follow: false) {
            payloads.append(record.event.payload)
        }
        let expected = ErrorPayload(
            code: "sync.illegal_realm_path",
            message: "no",
            fatal: true,
            sdkCode: 4,
            serverCode: 204,
            logURL: "https://log/1"
        )
        #expect(payloads == [.error(expected)])
        guard case .error(let report)? = news.compactMap(HandlerTrigger.init).first else {
            Issue.record("no handler hears of it")
            return
        }
        #expect(report.code == "sync.illegal_realm_path")
        #expect(report.sdkCode == 4)
        #expect(report.logURL == "https://log/1")
    }

    @Test("Every phase and cause of the engine has the word of interfaces, 5")
    func words() {
        for phase in RealmPhase.allCases {
            #expect(RealmState(phase).rawValue == phase.rawValue)
        }
        #expect(Set(RealmCause.allCases.map(\.rawValue)).count == RealmCause.allCases.count)
    }
}
