import FoundationEssentials
import Migration

/// Finds the files of a source that the command line names (moving an app, 1.2).
package enum SourceFiles {
    /// - Parameter text: a file, a directory, `-`, or `DB.COLL=FILE`.
    package static func find(_ text: String) throws(MigrationFailure) -> [SourceFile] {
        if text == "-" {
            return [SourceFile(path: "-", collection: SourceCollection(database: nil, name: ""))]
        }
        let manager = FileManager.default
        var isFolder = false
        if manager.fileExists(atPath: text, isDirectory: &isFolder) {
            return isFolder
                ? try files(in: text)
                : [SourceFile(path: text, collection: collection(of: text, database: nil))]
        }
        if let sign = text.firstIndex(of: "="), let point = text[..<sign].firstIndex(of: ".") {
            let path = String(text[text.index(after: sign)...])
            guard manager.fileExists(atPath: path) else { throw missing(path) }
            let name = String(text[text.index(after: point)..<sign])
            return [
                SourceFile(
                    path: path,
                    collection: SourceCollection(database: String(text[..<point]), name: name)
                )
            ]
        }
        throw missing(text)
    }

    private static func missing(_ path: String) -> MigrationFailure {
        MigrationFailure(
            "import.bad_source",
            "\(path) does not exist",
            remedy: "name a file or a directory with documents"
        )
    }

    /// `DB/COLL.bson` of a dump, or files beside each other.
    private static func files(in folder: String) throws(MigrationFailure) -> [SourceFile] {
        let manager = FileManager.default
        let paths = ((try? manager.subpathsOfDirectory(atPath: folder)) ?? []).sorted()
        let isDump = paths.contains { [".bson", ".bson.gz"].contains(where: $0.hasSuffix) }
        let files = paths.compactMap { path -> SourceFile? in
            let parts = path.split(separator: "/").map(String.init)
            guard parts.count <= 2, let name = parts.last, isData(name),
                // Written by mongodump about itself.
                !isDump || !["prelude.json", "prelude.json.gz"].contains(name)
            else { return nil }
            var isFolder = false
            guard manager.fileExists(atPath: "\(folder)/\(path)", isDirectory: &isFolder),
                !isFolder
            else { return nil }
            let collection = collection(of: name, database: parts.count == 2 ? parts[0] : nil)
            guard !collection.isInternal else { return nil }
            return SourceFile(
                path: "\(folder)/\(path)",
                collection: collection,
                mayBeEmpty: true
            )
        }
        guard !files.isEmpty else {
            throw MigrationFailure(
                "import.bad_source",
                "\(folder) has no documents",
                remedy: "name the directory of a dump"
            )
        }
        return files
    }

    private static func isData(_ name: String) -> Bool {
        let stem = name.hasSuffix(".gz") ? String(name.dropLast(3)) : name
        return !stem.hasSuffix(".metadata.json")
            && [".bson", ".json", ".jsonl", ".ndjson"].contains { stem.hasSuffix($0) }
    }

    private static func collection(of path: String, database: String?) -> SourceCollection {
        var name = path.split(separator: "/").last.map(String.init) ?? path
        for ending in [".gz", ".bson", ".json", ".jsonl", ".ndjson", ".archive"]
        where name.hasSuffix(ending) {
            name.removeLast(ending.count)
        }
        // mongodump writes other letters than those of a URL as %XX.
        if [".bson", ".bson.gz"].contains(where: path.hasSuffix) {
            name = decoded(name) ?? name
        }
        return SourceCollection(database: database, name: name)
    }

    /// Nil if a `%` is not followed by two hexadecimal digits, or the result is not UTF-8.
    private static func decoded(_ name: String) -> String? {
        var bytes: [UInt8] = []
        var rest = name.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, !digits.hasPrefix("+"),
                let value = UInt8(digits, radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
