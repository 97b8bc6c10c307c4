import Config
import FoundationEssentials
import TestSupport
import Testing

@testable import Plugins

@Suite("The example plugins", .timeLimit(.minutes(10)))
struct ExamplePluginTests {
    let temporary: TemporaryDirectory

    init() throws {
        self.temporary = try TemporaryDirectory()
    }

    private static let directory = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "examples/plugins").path

    private func handler(
        _ name: String,
        arguments: [String] = [],
        environment: [String: String] = [:]
    ) -> ExecHandler {
        ExecHandler(
            .init(
                command: ["\(Self.directory)/\(name)"] + arguments,
                timeout: .seconds(60),
                environment: environment
            )
        )
    }

    @Test("pause-after-errors.sh suspends a realm after its third error")
    func pause() async throws {
        let handler = handler("pause-after-errors.sh", environment: ["STATE": temporary.path])
        #expect(try await handler.handle(HandlerFixture.rejects) == .continue)
        #expect(try await handler.handle(HandlerFixture.error) == .continue)
        #expect(try await handler.handle(HandlerFixture.error) == .continue)
        let reply = try await handler.handle(HandlerFixture.error)
        guard case .suspend(.some) = reply.decision else {
            Issue.record("\(reply)")
            return
        }
        #expect(reply.note == "three errors within ten minutes")
        // The count restarts.
        #expect(try await handler.handle(HandlerFixture.error) == .continue)
    }

    @Test("pause-after-errors.sh says what it lacks")
    func pauseWithoutState() async {
        do throws(HandlerFailure) {
            _ = try await handler("pause-after-errors.sh").handle(HandlerFixture.error)
            Issue.record("it needs STATE")
        } catch {
            #expect(error.code == "plugin.exit_status")
            #expect(error.description.contains("set STATE to a directory"))
        }
    }

    @Test("keep_rejects.py keeps a line for each write")
    func rejects() async throws {
        let file = temporary.file("rejects.jsonl")
        let handler = handler("keep_rejects.py", arguments: [file])
        #expect(try await handler.handle(HandlerFixture.error) == .continue)
        #expect(
            try await handler.handle(HandlerFixture.rejects)
                == HandlerReply(.continue, note: "2 kept")
        )
        let text = String(
            decoding: FileManager.default.contents(atPath: file) ?? Data(),
            as: UTF8.self
        )
        #expect(
            text == """
                {"class": "Task", "key": "{\\"$numberInt\\":\\"7\\"}", "realm": "stock", "reason": "not yours"}
                {"class": "Task", "key": "{\\"$numberInt\\":\\"8\\"}", "realm": "stock", "reason": "nor this"}

                """
        )
    }
}
