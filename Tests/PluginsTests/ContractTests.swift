import ClientReset
import Platform
import Scheduling
import Testing

@testable import Plugins

@Suite("The contract of handlers", .timeLimit(.minutes(10)))
struct ContractTests {
    @Test("Each kind of event has the document that the contract shows", arguments: documents)
    func requests(_ event: HandlerEvent, _ document: String) {
        let request = HandlerRequest(event, of: HandlerFixture.subject)
        #expect(String(decoding: request.json(), as: UTF8.self) == document + "\n")
    }

    static let documents: [(HandlerEvent, String)] = [
        (
            HandlerFixture.error.event,
            """
            {"app":"shop-abcde","error":{"code":"auth.token_expired","fatal":true,\
            "log_url":"https://log.example/1","message":"the token has expired","sdk_code":5},\
            "kind":"error","path":"/data/stock.sqlite","realm":"stock","user":"till-7","version":1}
            """
        ),
        (
            .clientResetBefore(reason: "sync was terminated", mode: .recover),
            """
            {"app":"shop-abcde","kind":"client_reset_before","mode":"recover-unsynced-changes",\
            "path":"/data/stock.sqlite","realm":"stock","reason":"sync was terminated",\
            "user":"till-7","version":1}
            """
        ),
        (
            .clientResetAfter(
                FinishedReset(
                    mode: .discard,
                    didRecover: false,
                    beforePath: "/data/stock.sqlite.before",
                    discarded: ["Task": 3],
                    exportPath: "/data/recovered/stock-1.jsonl"
                )
            ),
            """
            {"app":"shop-abcde","before_path":"/data/stock.sqlite.before","did_recover":false,\
            "discarded":{"Task":3},"export_path":"/data/recovered/stock-1.jsonl",\
            "kind":"client_reset_after","mode":"discard-unsynced-changes",\
            "path":"/data/stock.sqlite","realm":"stock","user":"till-7","version":1}
            """
        ),
        (
            .clientResetAfter(
                FinishedReset(
                    mode: .recover,
                    didRecover: true,
                    beforePath: nil,
                    discarded: nil,
                    exportPath: nil
                )
            ),
            """
            {"app":"shop-abcde","did_recover":true,"kind":"client_reset_after",\
            "mode":"recover-unsynced-changes","path":"/data/stock.sqlite","realm":"stock",\
            "user":"till-7","version":1}
            """
        ),
        (
            .clientResetManual(
                ManualReset(
                    code: "reset.manual",
                    reason: "by hand",
                    originalPath: "/a",
                    recoveryPath: "/b",
                    token: "t1"
                )
            ),
            """
            {"app":"shop-abcde","code":"reset.manual","kind":"client_reset_manual",\
            "original_path":"/a","path":"/data/stock.sqlite","realm":"stock","reason":"by hand",\
            "recovery_path":"/b","token":"t1","user":"till-7","version":1}
            """
        ),
        (
            .writeRejected([RejectedWriteSummary(className: "Task", key: "7", reason: "no")]),
            """
            {"app":"shop-abcde","kind":"write_rejected","path":"/data/stock.sqlite",\
            "realm":"stock","rejects":[{"class":"Task","key":"7","reason":"no"}],\
            "user":"till-7","version":1}
            """
        ),
    ]

    @Test("An answer is a decision", arguments: goodAnswers)
    func answer(_ text: String, _ decision: HandlerDecision) throws {
        let reply = try HandlerReply(answer: Array(text.utf8), to: HandlerFixture.error)
        #expect(reply.decision == decision)
    }

    static let goodAnswers: [(String, HandlerDecision)] = [
        ("", .continue),
        (" \n", .continue),
        ("{}", .continue),
        (#"{"decision":"continue"}"#, .continue),
        (#"{"decision":"retry"}"#, .retry(after: nil)),
        (#"{"decision":"retry","after":"1m30s"}"#, .retry(after: .seconds(90))),
        (#"{"decision":"suspend"}"#, .suspend(until: nil)),
        (
            #"{"decision":"suspend","until":"2026-11-20T22:30:00Z"}"#,
            .suspend(until: HandlerFixture.start)
        ),
        (
            #"{"decision":"suspend","until":"2026-11-20T23:30:00.250+01:00"}"#,
            .suspend(
                until: WallTime(
                    millisecondsSince1970: HandlerFixture.start.millisecondsSince1970 + 250
                )
            )
        ),
        (#"{"decision":"relogin"}"#, .relogin),
        (#"{"decision":"reset"}"#, .reset(nil)),
        (#"{"decision":"reset","mode":"discard-unsynced-changes"}"#, .reset(.discard)),
        (#"{"decision":"discard","note":"n"}"#, .discard),
        (#"{"decision":"stop","more":[1]}"#, .stop),
        (#"{"decision":"stop","realm":"stock"}"#, .stop),
    ]

    @Test(
        "An invalid answer is refused with a reason",
        arguments: [
            "continue", "[]", "null", #"{"decision":7}"#, #"{"decision":"explode"}"#,
            #"{"decision":"continue"}{"decision":"stop"}"#, "{",
            #"{"decision":"retry","after":30}"#, #"{"decision":"retry","after":"soon"}"#,
            #"{"decision":"retry","after":"400d"}"#, #"{"decision":"suspend","until":"later"}"#,
            #"{"decision":"reset","mode":"all"}"#, "\u{FF}",
            #"{"decision":"stop","realm":"orders"}"#, #"{"decision":"stop","realm":["stock"]}"#,
        ]
    )
    func badAnswers(_ text: String) throws {
        let error = #expect(throws: HandlerFailure.self) {
            try HandlerReply(answer: Array(text.utf8), to: HandlerFixture.error)
        }
        #expect(error?.code == "plugin.bad_answer", "\(text)")
        #expect(error.map { !$0.description.contains("\n") } == true)
    }
}
