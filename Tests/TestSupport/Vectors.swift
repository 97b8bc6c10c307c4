package import Documents
import FoundationEssentials

/// The golden data recorded from the reference implementation.
///
/// The folder is `$REALM_VECTORS`, or `../shared/vectors` beside the project. Where it is absent the
/// suites that need it say so and skip, unless `CI` is set: there they must run.
package enum Vectors {
    package static let root: String = {
        if let path = ProcessInfo.processInfo.environment["REALM_VECTORS"] { return path }
        let package = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return package.deletingLastPathComponent().appending(path: "shared/vectors").path
    }()

    /// Whether the vector suites run. In CI they always do, and fail if the folder is not there.
    package static var areRequiredOrPresent: Bool {
        ProcessInfo.processInfo.environment["CI"] != nil
            || FileManager.default.fileExists(atPath: root)
    }

    /// Paths below the folder that end in one of the suffixes, sorted.
    package static func files(in folder: String, suffixes: [String]) throws -> [String] {
        let path = root + "/" + folder
        return try FileManager.default.subpathsOfDirectory(atPath: path)
            .filter { name in suffixes.contains { name.hasSuffix($0) } }
            .sorted()
            .map { path + "/" + $0 }
    }

    /// The lines of a JSON-lines file, unpacked first if its name ends in `.gz`.
    package static func lines<Line: Decodable>(_ type: Line.Type, of path: String) throws -> [Line]
    {
        let decoder = JSONDecoder()
        return try rawLines(of: path).map {
            try decoder.decode(Line.self, from: Data($0))
        }
    }

    /// The lines of such a file as trees, for what has no shape that a `Decodable` could describe.
    package static func nodes(of path: String) throws -> [JSONNode] {
        try rawLines(of: path).map { try JSONNode(parsing: Array($0)) }
    }

    private static func rawLines(of path: String) throws -> [ArraySlice<UInt8>] {
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        if path.hasSuffix(".gz") {
            bytes = try gunzip(bytes)
        }
        return bytes.split(separator: UInt8(ascii: "\n"))
    }
}
