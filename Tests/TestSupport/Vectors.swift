package import Documents
import FoundationEssentials

/// The golden data of `Tests/Vectors`, recorded from the reference implementation.
///
/// `$REALM_VECTORS` names another folder of the same shape. Where the folder is absent, the suites that
/// need it say so and skip, unless `CI` is set: there they must run.
///
/// A file is named by its path below the folder, without the `.gz` of a compressed one: `wire/ping.jsonl`.
package enum Vectors {
    private static let root: String = {
        if let path = ProcessInfo.processInfo.environment["REALM_VECTORS"] { return path }
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return tests.appending(path: "Vectors").path
    }()

    /// Whether the vector suites run. In CI they always do, and fail if the folder is not there.
    package static var areRequiredOrPresent: Bool {
        ProcessInfo.processInfo.environment["CI"] != nil
            || FileManager.default.fileExists(atPath: root)
    }

    /// The JSON-lines files in one of the folders, sorted by name.
    package static func files(in folder: String) throws -> [String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(root)/\(folder)")
            .map { $0.hasSuffix(".gz") ? String($0.dropLast(".gz".count)) : $0 }
            .filter { $0.hasSuffix(".jsonl") }
        return Set(names).sorted().map { "\(folder)/\($0)" }
    }

    /// The lines of a JSON-lines file.
    package static func lines<Line: Decodable>(_ type: Line.Type, of file: String) throws -> [Line]
    {
        let decoder = JSONDecoder()
        return try rawLines(of: file).map {
            try decoder.decode(Line.self, from: Data($0))
        }
    }

    /// The lines of such a file as trees, for what has no shape that a `Decodable` could describe.
    package static func nodes(of file: String) throws -> [JSONNode] {
        try rawLines(of: file).map { try JSONNode(parsing: Array($0)) }
    }

    /// A file that is one JSON value.
    package static func node(of file: String) throws -> JSONNode {
        try JSONNode(parsing: bytes(of: file))
    }

    /// The paths of all files below a folder, from that folder, sorted.
    package static func paths(under folder: String) throws -> [String] {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: "\(root)/\(folder)")
        var isFolder: Bool = false
        return paths.filter { path in
            isFolder = false
            return FileManager.default.fileExists(
                atPath: "\(root)/\(folder)/\(path)",
                isDirectory: &isFolder
            ) && !isFolder
        }.sorted()
    }

    /// The place of a file or folder on this machine.
    package static func place(of path: String) -> String { "\(root)/\(path)" }

    private static func rawLines(of file: String) throws -> [ArraySlice<UInt8>] {
        try bytes(of: file).split(separator: UInt8(ascii: "\n"))
    }

    /// The content of a file.
    package static func bytes(of file: String) throws -> [UInt8] {
        let path = "\(root)/\(file)"
        guard FileManager.default.fileExists(atPath: path) else {
            return try gunzip([UInt8](Data(contentsOf: URL(filePath: path + ".gz"))))
        }
        return try [UInt8](Data(contentsOf: URL(filePath: path)))
    }
}
