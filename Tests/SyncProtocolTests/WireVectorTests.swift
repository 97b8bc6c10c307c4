import ScriptedPeers
import SyncProtocol
import TestSupport
import Testing

@Suite(
    "Recorded conversations, message by message",
    .enabled(if: Vectors.areRequiredOrPresent, "the folder of vectors is not there")
)
struct WireVectorTests {
    @Test("Every recorded message of partition-based sync encodes to the bytes it was read from")
    func partitionBased() throws {
        let scenarios = try WireScenario.all().filter { $0.mode == .partitionBased }
        let count = try scenarios.reduce(0) { try $0 + reencodeAll(of: $1) }
        print("wire vectors: \(count) messages of \(scenarios.count) partition-based scenarios")
        #expect(count > 0)
    }

    @Test("Every recorded message of flexible sync encodes to the bytes it was read from")
    func flexible() throws {
        let scenarios = try WireScenario.all().filter { $0.mode == .flexible }
        let count = try scenarios.reduce(0) { try $0 + reencodeAll(of: $1) }
        print("wire vectors: \(count) messages of \(scenarios.count) flexible scenarios")
        #expect(count > 0)
    }

    @Test("Every prefix of a recorded message is refused, and none traps")
    func prefixes() throws {
        for scenario in try WireScenario.all() {
            for line in scenario.binaryLines.prefix(40) {
                let bytes = line.bytes
                for length in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 100)) {
                    let prefix = Array(bytes[..<length])
                    #expect(throws: WireError.self, "\(scenario.name) \(line.seq) \(length)") {
                        try Self.reencoded(prefix, line.dir, scenario.mode)
                    }
                }
            }
        }
    }

    @Test("The recorded upgrade requests and responses negotiate as in the reference")
    func upgrades() throws {
        for scenario in try WireScenario.all() {
            for line in scenario.lines where line.opcode == "http" {
                let value = (line.text ?? "").split(whereSeparator: \.isNewline)
                    .first { $0.lowercased().hasPrefix("sec-websocket-protocol: ") }?
                    .dropFirst("sec-websocket-protocol: ".count)
                let header = try #require(value.map { String($0) })
                switch line.dir {
                case .fromClient:
                    #expect(header == SubProtocol.offer(for: scenario.mode))
                    let choice = try SubProtocol(choosingFrom: [header])
                    #expect(choice == SubProtocol(mode: scenario.mode, version: 14))
                case .fromServer:
                    let answer = try SubProtocol(answer: header, for: scenario.mode)
                    #expect(answer.token == header)
                }
            }
        }
    }

    private func reencodeAll(of scenario: WireScenario) throws -> Int {
        for line in scenario.binaryLines {
            let bytes = line.bytes
            #expect(
                try Self.reencoded(bytes, line.dir, scenario.mode) == bytes,
                "\(scenario.name) \(line.seq)"
            )
        }
        return scenario.binaryLines.count
    }

    private static func reencoded(
        _ bytes: [UInt8],
        _ direction: WireScenario.Direction,
        _ mode: SyncMode
    ) throws -> [UInt8] {
        switch direction {
        case .fromClient:
            let context = WireContext(mode: mode, limits: .server)
            return try ClientMessage(decoding: bytes, context: context).encoded()
        case .fromServer:
            let context = WireContext(mode: mode, limits: .client)
            return try ServerMessage(decoding: bytes, context: context).encoded()
        }
    }
}
