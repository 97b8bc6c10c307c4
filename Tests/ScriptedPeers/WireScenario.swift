import Changesets
import FoundationEssentials
package import SyncProtocol
import TestSupport

/// One recorded conversation of the reference client with a server.
package struct WireScenario: Sendable {
    package let name: String
    package let lines: [Line]

    package struct Line: Decodable, Sendable {
        package let seq: Int
        package let conn: Int
        package let dir: Direction
        package let opcode: String
        package let text: String?
        package let hex: String?

        package var bytes: [UInt8] { hex.flatMap { Hexadecimal.bytes(of: $0) } ?? [] }
    }

    package enum Direction: String, Decodable, Sendable {
        case fromClient = "c2s"
        case fromServer = "s2c"
    }

    package var mode: SyncMode { name.hasPrefix("flx_") ? .flexible : .partitionBased }
    package var binaryLines: [Line] { lines.filter { $0.opcode == "binary" } }
    package var connections: [Int] { Array(Set(lines.map(\.conn))).sorted() }

    package static func all() throws -> [WireScenario] {
        try Vectors.files(in: "wire").map { file in
            WireScenario(
                name: String(file.dropFirst("wire/".count).dropLast(".jsonl".count)),
                lines: try Vectors.lines(Line.self, of: file)
            )
        }
    }

    package static func named(_ name: String) throws -> WireScenario {
        WireScenario(
            name: name,
            lines: try Vectors.lines(Line.self, of: "wire/\(name).jsonl")
        )
    }
}

extension WireContext {
    package static let partitionClient = WireContext(mode: .partitionBased, limits: .client)
    package static let partitionServer = WireContext(mode: .partitionBased, limits: .server)
}
