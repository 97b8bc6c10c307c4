import Glibc
import Testing

@testable import Control

extension ControlTests {
    struct Enough: Error {}

    @Test("Every kind of event crosses the socket unchanged, filtered and from a position")
    func events() async throws {
        try await withServer { client in
            var records: [EventRecord] = []
            try await client.events(after: nil, follow: false, realm: nil) { records.append($0) }
            #expect(records == Backend.records)
            records = []
            try await client.events(after: 3, follow: false, realm: "stock") { records.append($0) }
            // Gaps concern every realm.
            #expect(records.map(\.sequence) == [5, 7, 9, 10])
        }
    }

    @Test("A reader leaves a stream that does not end, and the agent serves on")
    func leaving() async throws {
        try await withServer { client in
            for _ in 0..<3 {
                var count = 0
                await #expect(throws: Enough.self) {
                    try await client.events(after: nil, follow: true, realm: nil) { _ in
                        count += 1
                        if count == Backend.records.count { throw Enough() }
                    }
                }
            }
            let report = try await client.status()
            #expect(report.pid == 7)
        }
    }

    @Test("An event is one flat line that scripts take apart")
    func lineForm() throws {
        #expect(
            try Backend.records[0].controlJSON() == """
                {"at":"2026-01-01T00:00:00.000Z","cause":"backoff","detail":"x \\"y\\"",\
                "event":"state","realm":"stock","sequence":1,"state":"offline"}
                """
        )
        #expect(try Backend.records[1].controlJSON().contains(#""log_url":"https://x/log""#))
        #expect(try Backend.records[2].controlJSON().contains(#""class":"Item""#))
    }

    @Test("Log levels are shown and changed")
    func logLevels() async throws {
        try await withServer { client in
            let levels = try await client.logLevels()
            #expect(levels.categories == ["Sync": "debug"])
            let change = LogLevelChange(level: "debug", category: nil)
            let changed = try await client.setLogLevel(change)
            #expect(changed.level == "debug")
        }
    }

    @Test("Lines are put together from chunks, wherever those are cut")
    func splitting() {
        let text = Array("ab\n\nc\nd".utf8)
        for cut in 0...text.count {
            var splitter = LineSplitter()
            let lines = splitter.lines(in: text[..<cut]) + splitter.lines(in: text[cut...])
            #expect(lines == [Array("ab".utf8), Array("c".utf8)])
        }
    }
}
