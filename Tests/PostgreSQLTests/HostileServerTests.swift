import PostgreSQL
import PostgreSQLFixtures
import TestSupport
import Testing

@Suite("Servers that send anything")
struct HostileServerTests {
    private func target(_ server: FakeServer) -> Target {
        Target(
            hosts: [.network(name: "127.0.0.1", port: server.port)],
            database: "d",
            user: "u",
            password: { _ in "hunter two" }
        )
    }

    @Test("Random bytes instead of an answer are an error")
    func garbage() throws {
        for seed in UInt64(0)..<200 {
            var random = SplitMix64(seed: seed)
            let count = Int.random(in: 0...400, using: &random)
            var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            // Half of them look like the beginning of a message.
            if seed.isMultiple(of: 2) {
                bytes = Array("RESZ"[...].utf8.prefix(1)) + [0, 0, 0, 8] + bytes
            }
            let server = try FakeServer(bytes)
            #expect(throws: PostgreSQLError.self, "seed \(seed)") {
                try Connection(target(server), deadline: .after(.seconds(20)))
            }
        }
    }

    @Test("A log-in that succeeds, and random messages behind it")
    func garbageAfterLogin() throws {
        for seed in UInt64(0)..<400 {
            var random = SplitMix64(seed: seed)
            var bytes = FakeServer.login
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                bytes += Self.message(using: &random)
            }
            let server = try FakeServer(bytes)
            do {
                let connection = try Connection(target(server), deadline: .after(.seconds(20)))
                let rows = try connection.pipeline(
                    [Step("SELECT 1"), Step("SELECT $1", [.integer(1)])],
                    deadline: .after(.seconds(20))
                )
                for rows in rows {
                    for row in 0..<min(rows.count, 3) {
                        for column in 0..<min(rows.columnCount, 3) {
                            _ = try? rows.integer(row, column)
                            _ = try? rows.documents(row, column)
                            _ = try? rows.bytes(row, column)
                        }
                    }
                }
            } catch {
                #expect(!"\(error)".contains("hunter"), "seed \(seed)")
            }
        }
    }

    @Test("Control characters of a server's message do not reach the error; a long one is cut")
    func messages() throws {
        let text =
            "SFATAL\u{0}VFATAL\u{0}C28000\u{0}Mbad\u{1b}[31m\nline\u{7}"
            + String(repeating: "x", count: 5000) + "\u{0}\u{0}"
        let size = UInt32(text.utf8.count + 4)
        let length = (0..<4).map { UInt8(truncatingIfNeeded: size >> (24 - 8 * UInt32($0))) }
        let server = try FakeServer([UInt8(ascii: "E")] + length + Array(text.utf8))
        let error = try #require(throws: PostgreSQLError.self) {
            try Connection(target(server), deadline: .after(.seconds(20)))
        }
        #expect(error.sqlState == "28000")
        #expect(error.message.unicodeScalars.allSatisfy { $0.value >= 32 })
        #expect(error.message.count <= 300)
    }

    @Test("An old server is refused with its version")
    func oldServer() throws {
        let server = try FakeServer(FakeServer.login(version: "9.6.1"))
        let error = try #require(throws: PostgreSQLError.self) {
            try Connection(target(server), deadline: .after(.seconds(20)))
        }
        #expect(error.cause == .unavailable)
        #expect(error.message.contains("14 is the oldest that works"))
    }

    /// A message of a random kind; its length is mostly right.
    private static func message(using random: inout SplitMix64) -> [UInt8] {
        let kinds = Array("123CDTEZNAKRSHGWVIntsd".utf8)
        let count = Int.random(in: 0...60, using: &random)
        let isSmall = Bool.random(using: &random)
        let body = (0..<count).map { _ in UInt8.random(in: 0...(isSmall ? 3 : 255), using: &random)
        }
        let isRight = Int.random(in: 0..<8, using: &random) > 0
        let length = isRight ? UInt32(count + 4) : UInt32.random(in: 0...UInt32.max, using: &random)
        let kind = kinds[Int.random(in: 0..<kinds.count, using: &random)]
        return [kind] + (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * UInt32($0))) }
            + body
    }
}
