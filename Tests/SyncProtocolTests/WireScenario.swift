import Changesets
import FoundationEssentials
import SyncProtocol
import TestSupport

/// One recorded conversation of the reference client with a server.
struct WireScenario {
    let name: String
    let lines: [Line]

    struct Line: Decodable {
        let seq: Int
        let conn: Int
        let dir: Direction
        let opcode: String
        let text: String?
        let hex: String?

        var bytes: [UInt8] { hex.flatMap { Hexadecimal.bytes(of: $0) } ?? [] }
    }

    enum Direction: String, Decodable {
        case fromClient = "c2s"
        case fromServer = "s2c"
    }

    var mode: SyncMode { name.hasPrefix("flx_") ? .flexible : .partitionBased }
    var binaryLines: [Line] { lines.filter { $0.opcode == "binary" } }
    var connections: [Int] { Array(Set(lines.map(\.conn))).sorted() }

    static func all() throws -> [WireScenario] {
        try Vectors.files(in: "wire", suffixes: [".jsonl"]).map { path in
            let file = path.split(separator: "/").last ?? ""
            return WireScenario(
                name: String(file.dropLast(".jsonl".count)),
                lines: try Vectors.lines(Line.self, of: path)
            )
        }
    }

    static func named(_ name: String) throws -> WireScenario {
        let path = Vectors.root + "/wire/\(name).jsonl"
        return WireScenario(name: name, lines: try Vectors.lines(Line.self, of: path))
    }
}

extension WireContext {
    static let partitionClient = WireContext(mode: .partitionBased, limits: .client)
    static let partitionServer = WireContext(mode: .partitionBased, limits: .server)
}
