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

    @Test("Readers that leave at any moment do not end the agent")
    func leavingAtOnce() async throws {
        let verify =
            "POST /v1/realms/stock/verify HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"
        let events = "GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n"
        try await withServer { client in
            for number in 0..<3000 {
                let peer = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
                try #require(peer >= 0)
                defer { close(peer) }
                var address = sockaddr_un()
                address.sun_family = sa_family_t(AF_UNIX)
                withUnsafeMutableBytes(of: &address.sun_path) {
                    $0.copyBytes(from: client.socketPath.utf8)
                }
                let size = socklen_t(MemoryLayout<sockaddr_un>.size)
                let isConnected = withUnsafePointer(to: &address) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(peer, $0, size) }
                }
                try #require(isConnected == 0)
                let request = number.isMultiple(of: 2) ? verify : events
                _ = request.withCString { write(peer, $0, request.utf8.count) }
                usleep([0, 0, 200, 1000].randomElement() ?? 0)
            }
            #expect(try await client.status().pid == 7)
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
