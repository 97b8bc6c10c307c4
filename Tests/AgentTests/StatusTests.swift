import AppServices
import Config
import Control
import LocalRealm
import Plugins
import Testing
import Versions

@testable import Agent
@testable import SyncClient
@testable import SyncProtocol

@Suite("What a realm's status and a sync's outcome say")
struct StatusTests {
    func issue(_ kind: SessionIssue.Kind, _ code: String = "1") -> SessionIssue {
        SessionIssue(kind: kind, code: code, message: "text")
    }

    func status(_ phase: SessionPhase, isDownloaded: Bool = true) -> RealmStatus {
        var status = RealmStatus(
            name: "stock",
            path: "/stock.sqlite",
            app: "shop",
            user: "till",
            partition: "\"p\"",
            state: .waitingForUser
        )
        status.describe(phase, isFirstDownloadFinished: isDownloaded)
        return status
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
        let status = status(.refused(SessionIssue(problem)))
        #expect(status.state == .failed)
        #expect(status.error?.sdkCode == 4)
        #expect(status.error?.logURL == "https://log/1")
        #expect(status.detail == "no [204]")
        #expect(self.status(.offline(.loginRequired(reason: "x"))).error?.sdkCode == 5)
        #expect(self.status(.bound).error == nil)

        let events = AgentEvents()
        events.publish(.problem(problem, isFatal: true), realm: "stock", .init())
        var facts: [AgentFact] = []
        for await record in events.records(after: nil, follow: false) {
            facts.append(record.event.fact)
        }
        let expected = ErrorFact(
            code: "204",
            message: "no",
            fatal: true,
            sdkCode: 4,
            logURL: "https://log/1"
        )
        #expect(facts == [.error(expected)])
        let handlerError = SyncErrorReport(problem, isFatal: true)
        #expect(handlerError.sdkCode == 4)
        #expect(handlerError.logURL == "https://log/1")
    }

    @Test("A connection that failed shows with the SDKs' number, one that took too long without")
    func connectionError() {
        let cases: [(ConnectionReaction, String?, Int?)] = [
            (.connectFailed(isEndpointVerified: true), "connection.failed", 12),
            (.connectFailed(isEndpointVerified: false), "connection.failed", 12),
            (.httpStatus(404, isEndpointVerified: true), "connection.failed", 12),
            (.tlsFailed, "connection.tls_failed", 13),
            (.closeCode(.tlsFailure), "connection.tls_failed", 13),
            (.closeCode(.policyViolation), "connection.ended", 4),
            (.connectTimedOut(isEndpointVerified: true), nil, nil),
            (.httpStatus(503, isEndpointVerified: true), nil, nil),
            (.lost, nil, nil),
        ]
        for (reaction, code, number) in cases {
            let cause = OfflineCause.backoff(reason: "text", error: ConnectionError(reaction))
            let status = status(.offline(cause))
            #expect(status.state == .offline)
            #expect(status.error?.code == code, "\(reaction)")
            #expect(status.error?.sdkCode == number, "\(reaction)")
            if code != nil { #expect(status.error?.message == "text") }
        }
    }

    @Test("Every phase of a session has its state, and a cause wherever something is in the way")
    func phases() {
        #expect(status(.bound).state == .open)
        #expect(status(.bound).cause == nil)
        #expect(status(.bound, isDownloaded: false).state == .progress)
        #expect(status(.connecting).state == .connecting)
        #expect(status(.offline(.notTried)).state == .connecting)
        let cases: [(SessionPhase, RealmState, String)] = [
            (.offline(.backoff(reason: "text")), .offline, "backoff"),
            (.offline(.serverError(reason: "text")), .failed, "server-error"),
            (.offline(.loginRequired(reason: "text")), .loginRequired, "log-in-refused"),
            (.suspended(issue(.serverError)), .suspended, "server-error"),
            (.suspended(issue(.permissionDenied)), .suspended, "permission-denied"),
            (.refused(issue(.clientReset)), .needsReset, "client-reset"),
            (.refused(issue(.permissionDenied)), .failed, "permission-denied"),
            (.refused(issue(.schemaConflict)), .failed, "schema-conflict"),
            (.refused(issue(.serverError)), .failed, "server-error"),
            (.refused(issue(.localRealm, "realm.disk_full")), .failed, "disk-full"),
        ]
        for (phase, state, cause) in cases {
            let status = status(phase)
            #expect(status.state == state, "\(phase)")
            #expect(status.cause == cause, "\(phase)")
            #expect(status.detail?.hasPrefix("text") == true, "\(phase)")
        }
    }

    @Test("Each outcome of a session leads to the exit code that scripts expect")
    func outcomes() {
        let cases: [(SyncOutcome, SyncReport.Outcome)] = [
            (.done, .done), (.timedOut, .timedOut),
            (.offline(reason: "text"), .offline),
            (.loginRequired(reason: "text"), .loginRequired),
            (.failed(reason: "text"), .failed),
            (.refused(issue(.clientReset)), .resetRequired),
            (.refused(issue(.serverError)), .failed),
            (.refused(issue(.localRealm, "realm.busy")), .failed),
            (.refused(issue(.localRealm, "schema.altered")), .configuration),
        ]
        for (outcome, word) in cases {
            let report = SyncReport(
                realm: "stock",
                outcome: outcome,
                uploadedBytes: 1,
                downloadedBytes: 2
            )
            #expect(report.outcome == word, "\(outcome)")
            #expect((report.detail == nil) == (word == .done))
        }
    }

    @Test("Every error of a realm file has a cause, and configuration is what somebody must change")
    func localErrors() {
        for kind in LocalRealmError.Kind.allCases {
            let error = LocalRealmError(kind, path: "/stock.sqlite", "text")
            let failure = RealmSupervisor.Failure(RealmOpener.Failure.realm(error))
            #expect(!failure.cause.isEmpty)
            #expect(failure.detail.contains(kind.rawValue))
            // What time heals must never end a script with "correct your configuration".
            if error.isHealedByTime { #expect(failure.outcome == .failed, "\(kind)") }
        }
        let owner = LocalRealmError(.wrongOwner, path: "/stock.sqlite", "text")
        let failure = RealmSupervisor.Failure(RealmOpener.Failure.realm(owner))
        #expect(failure.cause == "wrong-owner")
        #expect(failure.outcome == .configuration)
    }

    @Test("A refused credential asks for help, an absent server for patience")
    func users() {
        let refused = RealmSupervisor.Failure(
            UserSession.Failure.logInRefused(code: "InvalidPassword", message: "no")
        )
        #expect(refused.state == .loginRequired)
        #expect(refused.outcome == .loginRequired)
        #expect(refused.detail.contains("InvalidPassword"))
        let absent = RealmSupervisor.Failure(UserSession.Failure.unavailable(reason: "no route"))
        #expect(absent.state == .waitingForUser)
        #expect(absent.cause == "backoff")
        #expect(absent.outcome == .offline)
    }
}
