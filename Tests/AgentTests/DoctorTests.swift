import Config
import Control
import LocalRealm
import Platform
import Scheduling
import TestSupport
import Testing
import Transport

@testable import Agent

@Suite("Findings of doctor, and redaction of bundles")
struct DoctorTests {
    @Test("A full disk is a problem, a filling one a warning, each with a remedy")
    func disk() {
        #expect(Doctor.space(at: "/x", freeInBytes: 1 << 20).verdict == .problem)
        #expect(Doctor.space(at: "/x", freeInBytes: 100 << 20).verdict == .warning)
        #expect(Doctor.space(at: "/x", freeInBytes: 1 << 30).verdict == .good)
    }

    @Test("Whether the data directory is encrypted is said, and never a problem")
    func encryption() {
        let messages = [DiskEncryption.device, .fileSystem, DiskEncryption.none, nil].map {
            Doctor.encryption(at: "/x", $0).description
        }
        #expect(messages[0] == "ok       encryption  /x: on an encrypted device")
        #expect(messages[1] == "ok       encryption  /x: encrypted by its file system")
        #expect(messages[2].hasPrefix("ok       encryption  /x: not encrypted, as far as"))
        #expect(messages[3] == messages[2])
    }

    @Test("An altered file, another journal mode and a long log are found")
    func file() {
        func verdicts(_ file: RealmExamination) -> [String] {
            Doctor.findings("r", file).map { "\($0.check) \($0.verdict.rawValue)" }
        }
        let sound = RealmExamination(
            alterations: [],
            uniqueIndexes: [],
            journalMode: "wal",
            logSizeInBytes: 0
        )
        #expect(verdicts(sound) == ["triggers good", "wal good"])
        let bad = RealmExamination(
            alterations: ["trigger x is missing"],
            uniqueIndexes: ["y"],
            journalMode: "delete",
            logSizeInBytes: 0
        )
        #expect(verdicts(bad) == ["triggers problem", "index problem", "wal problem"])
        let long = RealmExamination(
            alterations: [],
            uniqueIndexes: [],
            journalMode: "wal",
            logSizeInBytes: 1 << 30
        )
        #expect(verdicts(long) == ["triggers good", "wal warning"])
        #expect(Doctor.findings("r", bad).allSatisfy { $0.remedy != nil })
    }

    private static let now = WallTime(millisecondsSince1970: 1_795_211_940_000)

    @Test(
        "A clock that differs by more than a minute from the server's Date header is found",
        arguments: [
            ("Fri, 20 Nov 2026 21:59:00 GMT", "good", "agrees with the server's, to the minute"),
            ("Fri, 20 Nov 2026 21:58:00 GMT", "good", "agrees with the server's, to the minute"),
            ("Fri, 20 Nov 2026 21:57:00 GMT", "warning", "is 120 s ahead of the server's"),
            ("Fri, 20 Nov 2026 22:59:30 GMT", "warning", "is 3630 s behind the server's"),
            ("Friday, 20-Nov-26 21:59:00 GMT", "warning", "the server's time cannot be read"),
            ("Fri, 20 Nov 2026 21:59:00 GMT+1", "warning", "the server's time cannot be read"),
        ]
    )
    func clock(date: String, verdict: String, message: String) throws {
        let finding = try #require(Doctor.clock(of: "shop", date: date, now: Self.now))
        #expect(finding.verdict.rawValue == verdict)
        #expect(finding.message == message)
        #expect((finding.remedy == nil) == (verdict == "good"))
    }

    @Test("A clock that was never set is a problem; a server without a Date header is not")
    func unsetClock() {
        #expect(Doctor.clock(of: "shop", date: nil, now: Self.now) == nil)
        #expect(Doctor.clock(WallTime(millisecondsSince1970: 0)).verdict == .problem)
        #expect(Doctor.clock(Self.now).verdict == .good)
    }

    @Test(
        "A certificate is good for two weeks at least, or there is something to do",
        arguments: [
            (-1, 15 * 86_400, "good", "holds until 2026-12-05T21:59:00.000Z"),
            (-1, 14 * 86_400, "warning", "ends at 2026-12-04T21:59:00.000Z"),
            (-10, 0, "problem", "ended at 2026-11-20T21:59:00.000Z"),
            (60, 86_400, "problem", "holds from 2026-11-20T22:00:00.000Z only"),
        ] as [(Int64, Int64, String, String)]
    )
    func certificate(from start: Int64, until end: Int64, verdict: String, message: String) {
        let now = Self.now.millisecondsSince1970 / 1_000
        let finding = Doctor.certificate(
            of: "shop",
            PeerCertificate(validFrom: now + start, validUntil: now + end),
            now: Self.now
        )
        #expect(finding.verdict.rawValue == verdict)
        #expect(finding.message == message)
        #expect((finding.remedy == nil) == (verdict == "good"))
    }

    @Test("States of realms in the running agent are findings, in the words of status")
    func states() {
        func finding(_ state: RealmState, _ cause: String?, remedy: String? = nil) -> Finding {
            var realm = RealmStatus(
                name: "stock",
                path: "/x",
                app: "a",
                user: "u",
                partition: "p",
                state: state
            )
            (realm.cause, realm.detail, realm.remedy) = (cause, "no [sync.x]", remedy)
            return Doctor.state(of: realm)
        }
        #expect(finding(.open, nil).verdict == .good)
        #expect(finding(.paused, "metered").verdict == .good)
        #expect(finding(.offline, "backoff").verdict == .warning)
        #expect(
            finding(.suspended, "by-user").remedy
                == "`realm-agent resume stock` when it may sync again"
        )
        for state in [RealmState.failed, .loginRequired, .needsReset] {
            #expect(finding(state, "x").verdict == .problem)
        }
        #expect(
            finding(.failed, "permission-denied", remedy: "do this").description
                == "PROBLEM  realm  stock: failed (permission-denied): no [sync.x]; do this"
        )
    }

    @Test("A user that never logged in has no token, and the finding names the remedy")
    func token() {
        let finding = Doctor.token(of: "till", nil, now: WallTime(millisecondsSince1970: 0))
        #expect(finding.verdict == .warning)
        #expect(
            finding.description
                == "warning  token  till: is not logged in; start the agent, and see why with "
                + "`realm-agent status`"
        )
    }

    @Test(
        "Secrets and people are taken out",
        arguments: [
            ("password: hunter2", "password: <redacted>"),
            (#"{"api_key":"abc","x":1}"#, #"{"api_key":"<redacted>","x":1}"#),
            (#"{"password":"a \"b\" c","x":1}"#, #"{"password":"<redacted>","x":1}"#),
            ("Authorization: Bearer abc", "Authorization: <redacted>"),
            ("refresh_token=abc def", "refresh_token=<redacted>"),
            ("by till@localhost now", "by <redacted> now"),
            ("by till@example.com now", "by <redacted> now"),
            ("https://me:secret@host/x", "https://<redacted>@host/x"),
            ("a eyJhbGciOi.eyJleHAiOj.c2lnbmF0dXJl b", "a <redacted> b"),
            ("127.0.0.1 realm-agent 0.1.0", "127.0.0.1 realm-agent 0.1.0"),
        ]
    )
    func redaction(text: String, redacted: String) {
        #expect(Redaction().redacted(text) == redacted)
    }
}
