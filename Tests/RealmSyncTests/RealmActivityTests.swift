import AppServices
import LocalRealm
import Testing
import Versions

@testable import RealmSync
@testable import SyncClient
@testable import SyncProtocol

@Suite("What a realm is doing, and how a sync ended")
struct RealmActivityTests {
    private static let done = DownloadStatus(
        isFirstFinished: true,
        hasCompleted: true,
        age: .zero
    )

    func issue(_ kind: SessionIssue.Kind, _ code: String = "1") -> SessionIssue {
        SessionIssue(kind: kind, code: code, message: "text")
    }

    func activity(_ phase: SessionPhase, _ standing: DownloadStatus = done) -> RealmActivity {
        RealmActivity(phase, standing, OpenOptions(download: .once))
    }

    @Test("A connection that failed shows with its code, and the number of the SDKs that report it")
    func connectionError() {
        let cases: [(ConnectionReaction, String?, Int?)] = [
            (.connectFailed(isEndpointVerified: true), "connection.failed", 12),
            (.connectFailed(isEndpointVerified: false), "connection.failed", 12),
            (.httpStatus(404, isEndpointVerified: true), "connection.failed", 12),
            (.tlsFailed, "connection.tls_failed", 13),
            (.closeCode(.tlsFailure), "connection.tls_failed", 13),
            (.closeCode(.policyViolation), "connection.ended", 4),
            (.connectTimedOut(isEndpointVerified: true), "connection.failed", nil),
            (.httpStatus(503, isEndpointVerified: true), "connection.ended", nil),
            (.lost, "connection.ended", nil),
        ]
        for (reaction, code, number) in cases {
            let cause = OfflineCause.backoff(reason: "text", error: ConnectionError(reaction))
            let status = SyncedRealmStatus.StatusIssue(.offline(cause))
            #expect(activity(.offline(cause)).phase == .offline)
            #expect(status?.code == code, "\(reaction)")
            #expect(status?.sdkCode == number, "\(reaction)")
            #expect(status?.message == "text")
            #expect(SyncedRealmStatus.StatusIssue(.connecting(after: cause)) == status)
        }
    }

    @Test("Every phase of a session has its state, and a cause if it is impeded")
    func phases() {
        let begun = DownloadStatus(isFirstFinished: false, hasCompleted: false, age: .zero)
        #expect(activity(.bound).phase == .open)
        #expect(activity(.bound).cause == nil)
        #expect(activity(.bound, begun).phase == .progress)
        #expect(activity(.connecting()).phase == .connecting)
        #expect(activity(.connecting()).cause == nil)
        #expect(activity(.offline(.notTried)).phase == .connecting)
        let cases: [(SessionPhase, RealmPhase, RealmCause)] = [
            (.offline(.backoff(reason: "text")), .offline, .backoff),
            (.connecting(after: .backoff(reason: "text")), .connecting, .backoff),
            (.offline(.serverError(reason: "text")), .failed, .serverError),
            (.offline(.loginRequired(reason: "text")), .loginRequired, .logInRefused),
            (.backingOff(issue(.serverError)), .suspended, .serverError),
            (.backingOff(issue(.permissionDenied)), .suspended, .permissionDenied),
            (.inactive(issue(.clientReset)), .needsReset, .clientReset),
            (.inactive(issue(.permissionDenied)), .failed, .permissionDenied),
            (.inactive(issue(.schemaConflict)), .failed, .schemaConflict),
            (.inactive(issue(.serverError)), .failed, .serverError),
            (.inactive(issue(.localRealm, "realm.disk_full")), .failed, .diskFull),
        ]
        for (phase, state, cause) in cases {
            let activity = activity(phase)
            #expect(activity.phase == state, "\(phase)")
            #expect(activity.cause == cause, "\(phase)")
            #expect(activity.detail?.hasPrefix("text") == true, "\(phase)")
        }
    }

    @Test("Each outcome of a session leads to the exit code that scripts expect")
    func outcomes() {
        let cases: [(SyncOutcome, SyncResult.Outcome)] = [
            (.done, .done), (.timedOut(), .timedOut),
            (.timedOut(.backoff(reason: "text")), .timedOut),
            (.offline(reason: "text"), .offline),
            (.loginRequired(reason: "text"), .loginRequired),
            (.failed(reason: "text"), .failed),
            (.refused(issue(.clientReset)), .resetRequired),
            (.refused(issue(.serverError)), .failed),
            (.refused(issue(.localRealm, "realm.busy")), .failed),
            (.refused(issue(.localRealm, "schema.altered")), .configuration),
        ]
        for (outcome, word) in cases {
            let report = SyncResult(outcome, uploadedBytes: 1, downloadedBytes: 2)
            #expect(report.outcome == word, "\(outcome)")
            #expect((report.detail == nil) == (word == .done))
        }
    }

    @Test("Every error of a realm file has a cause; those of the configuration need a correction")
    func localErrors() {
        for kind in LocalRealmError.Kind.allCases {
            let error = LocalRealmError(kind, path: "/stock.sqlite", "text")
            let failure = RealmFailure(RealmOpener.Failure.realm(error))
            #expect(failure.detail.contains(kind.rawValue))
            // What time heals must never end a script with "correct your configuration".
            if error.isTransient { #expect(failure.outcome == .failed, "\(kind)") }
        }
        let owner = LocalRealmError(.wrongOwner, path: "/stock.sqlite", "text")
        let failure = RealmFailure(RealmOpener.Failure.realm(owner))
        #expect(failure.cause == .wrongOwner)
        #expect(failure.outcome == .configuration)
    }

    @Test("A refused credential needs a new log-in, an unreachable server only time")
    func users() {
        let refused = RealmFailure(
            UserSession.Failure.logInRefused(code: "InvalidPassword", message: "no")
        )
        #expect(refused.phase == .loginRequired)
        #expect(refused.outcome == .loginRequired)
        #expect(refused.detail == "no (InvalidPassword) [auth.refused]")
        let absent = RealmFailure(UserSession.Failure.unavailable(reason: "no route"))
        #expect(absent.phase == .waitingForUser)
        #expect(absent.cause == .backoff)
        #expect(absent.outcome == .offline)
        #expect(absent.code == "auth.unavailable")
        let reasons: [(UnreachableError.Kind?, String, Int?)] = [
            (.connection, "connection.failed", 12), (.tls, "connection.tls_failed", 13),
            (.silence, "connection.failed", nil), (nil, "auth.unavailable", nil),
        ]
        for (kind, code, number) in reasons {
            let failure = RealmFailure(
                UserSession.Failure.unavailable(reason: "no route", kind: kind)
            )
            #expect(failure.error.code == code)
            #expect(failure.error.sdkCode == number)
            #expect(failure.detail == "no route [\(code)]")
        }
    }
}
