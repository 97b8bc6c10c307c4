import Config
import LocalRealm
import Platform
import TestSupport
import Testing

@testable import Agent

@Suite("What doctor finds, and what a bundle leaves out")
struct DoctorTests {
    @Test("A full disk is a problem, a filling one a warning, each with a remedy")
    func disk() {
        #expect(Doctor.space(at: "/x", freeInBytes: 1 << 20).verdict == .problem)
        #expect(Doctor.space(at: "/x", freeInBytes: 100 << 20).verdict == .warning)
        #expect(Doctor.space(at: "/x", freeInBytes: 1 << 30).verdict == .good)
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

    @Test("Whoever never logged in has no token, and the finding says what to do")
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
