import Glibc

/// Measures what capture costs a program that inserts, and how fast a realm drains and applies, beside
/// plain SQLite with the same rows.
@main
struct RealmBenchmark {
    static func main() async throws {
        let objects = CommandLine.arguments.dropFirst().first.flatMap(Int.init) ?? 100_000
        let folder = try Folder()
        defer { folder.remove() }

        print("\(objects) objects of ten scalar fields")
        let bare = try InsertCosts(folder, .scalars, objects).measure()
        try ApplyCosts(folder, objects, bare: bare).measure()

        let lists = max(1, objects / 5)
        print("\n\(lists) objects with a list, a set, a dictionary, an embedded object and Mixed")
        _ = try InsertCosts(folder, .collections, lists).measure()

        print("\nCommits of other programs")
        try await Noticing(folder, objects).measure()
    }
}

/// A directory of its own for one run.
final class Folder {
    struct Unusable: Error {}

    private let path: String

    init() throws {
        var template = Array("/tmp/realm-benchmark-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Unusable() }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    func remove() {
        guard let directory = opendir(path) else { return }
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            unlink("\(path)/\(name)")
        }
        closedir(directory)
        rmdir(path)
    }
}
