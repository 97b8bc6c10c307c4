import FoundationEssentials
package import Migration

/// Reads the directory of an app's export.
package enum ExportDirectory {
    /// Bytes of one file, and of all files together.
    package static let fileSizeInBytes = 16 << 20
    package static let totalSizeInBytes = 256 << 20

    /// Folders with other programs' files, by path: a database may have any of these names, too.
    private static let skipped: Set<String> = [".git", "hosting", "functions/node_modules"]

    package static func read(_ path: String) throws(MigrationFailure) -> ExportFiles {
        let manager = FileManager.default
        var isFolder = false
        guard manager.fileExists(atPath: path, isDirectory: &isFolder), isFolder else {
            throw MigrationFailure(
                "import.not_an_export",
                "\(path) is not a directory",
                remedy: "name the directory that the hosted service exported"
            )
        }
        var contents: [String: [UInt8]] = [:]
        var others: [String] = []
        var total = 0
        var folders = [""]
        while let folder = folders.popLast() {
            let place = folder.isEmpty ? path : "\(path)/\(folder)"
            for name in ((try? manager.contentsOfDirectory(atPath: place)) ?? []).sorted() {
                let below = folder.isEmpty ? name : "\(folder)/\(name)"
                let attributes = try? manager.attributesOfItem(atPath: "\(path)/\(below)")
                switch attributes?[.type] as? FileAttributeType {
                case .typeDirectory?:
                    if !skipped.contains(below) { folders.append(below) }
                case .typeRegular?:
                    let size = attributes?[.size] as? UInt64 ?? 0
                    guard name.hasSuffix(".json"), size <= UInt64(fileSizeInBytes) else {
                        others.append(below)
                        continue
                    }
                    total += Int(size)
                    guard total <= totalSizeInBytes else {
                        throw MigrationFailure(
                            "import.not_an_export",
                            "\(path) has more than \(totalSizeInBytes >> 20) MiB of JSON",
                            remedy: "name the export alone, without data"
                        )
                    }
                    guard let data = manager.contents(atPath: "\(path)/\(below)") else {
                        throw MigrationFailure(
                            "import.not_an_export",
                            "\(path)/\(below) cannot be read",
                            remedy: "give the right to read it"
                        )
                    }
                    contents[below] = Array(data)
                default: continue
                }
            }
        }
        return ExportFiles(contents: contents, otherPaths: others)
    }
}
