import Changesets
import FoundationEssentials
import ServerFixtures
import SyncProtocol
import TestSupport
import Testing
import Versions

/// The reference client's side of recorded conversations, played to our server: it must answer as the
/// reference server did.
///
/// Mapped from the recording to the run: paths (our partitions are values, so `/data` becomes the text
/// value `"/data"`), file ident salts, server version salts, plain ERROR (ours is JSON_ERROR with the
/// same code), and log messages, which are left out. Everything else must be equal, bytes of changesets
/// included.
@Suite(
    "Recorded conversations",
    .enabled(if: Vectors.areRequiredOrPresent, "the golden vectors are not there"),
    .timeLimit(.minutes(10))
)
struct RecordedConversationVectorTests {
    /// The events at the recorded server before a connection.
    enum Mishap {
        /// It was backed up.
        case backup
        /// It went back to the backup, in a new process.
        case restore
        /// It lost everything.
        case wipe
    }

    struct Scenario: CustomTestStringConvertible {
        let name: String
        var mishaps: [Int: Mishap] = [:]

        var testDescription: String { name }
    }

    /// All partition-based recordings of the reference server. `partition_app` and
    /// `partition_client_reset` are recordings of a scripted peer, whose responses are not binding.
    static let scenarios = [
        Scenario(name: "bad_file_ident", mishaps: [2: .wipe]),
        Scenario(name: "bad_path"),
        Scenario(name: "concurrent_edits"),
        Scenario(name: "diverging_history", mishaps: [2: .backup, 3: .restore]),
        Scenario(name: "empty_bind"),
        Scenario(name: "erase_and_links"),
        Scenario(name: "fresh_upload"),
        Scenario(name: "large_compressed"),
        Scenario(name: "live_exchange"),
        Scenario(name: "many_changesets"),
        Scenario(name: "ping"),
        Scenario(name: "reconnect"),
        Scenario(name: "second_client"),
        Scenario(name: "server_restored", mishaps: [2: .backup, 3: .restore]),
        Scenario(name: "token_refresh"),
        Scenario(name: "two_realms_one_connection"),
        Scenario(name: "unbind"),
    ]

    private static let kinds = StoreKind.allCases.filter { $0 != .sqliteInMemory }

    @Test(
        "Each recording gets the recorded responses, with each store",
        arguments: scenarios,
        kinds
    )
    func replay(scenario: Scenario, kind: StoreKind) async throws {
        let lines = try Vectors.lines(
            RecordedLine.self,
            of: "wire/\(scenario.name).jsonl"
        )
        try await withTemporaryDirectory { directory in
            let server = try await ReplayServer(kind, directory: directory)
            var replay = Replay(server: server)
            var compared = 0
            for (index, line) in lines.enumerated() {
                if line.opcode == "http", line.dir == "c2s" {
                    try await server.suffer(scenario.mishaps[line.conn])
                    try await replay.connect(line.conn)
                } else if line.opcode == "binary" {
                    compared += try await replay.play(line)
                }
                if !lines[(index + 1)...].contains(where: { $0.conn == line.conn }) {
                    await replay.disconnect(line.conn)
                }
            }
            await server.stop()
            print("\(scenario.name), \(kind): \(lines.count) lines, \(compared) answers compared")
            #expect(compared > 0)
        }
    }
}

struct RecordedLine: Decodable {
    let conn: Int
    let dir: String
    let opcode: String
    let hex: String?

    var bytes: [UInt8] { hex.flatMap { Hexadecimal.bytes(of: $0) } ?? [] }
}
