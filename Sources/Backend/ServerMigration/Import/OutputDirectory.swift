import FoundationEssentials
import Glibc

/// A directory that a command fills: absent or empty at first, and only its owner's.
package struct OutputDirectory: Sendable {
    package let path: String

    /// Creates the directory if there is none.
    package init(_ path: String) throws(MigrationFailure) {
        self.path = path
        let manager = FileManager.default
        var isFolder = false
        if manager.fileExists(atPath: path, isDirectory: &isFolder) {
            let content = try? manager.contentsOfDirectory(atPath: path)
            guard isFolder, let content, content.isEmpty else {
                throw Self.failure(
                    path,
                    isFolder ? "is not empty" : "is not a directory",
                    "name an empty directory, or one that does not exist"
                )
            }
        } else {
            do {
                try manager.createDirectory(
                    atPath: path,
                    withIntermediateDirectories: true,
                    attributes: [.posixPermissions: 0o755]
                )
            } catch {
                throw Self.failure(path, "cannot be created", "name a place that can be written")
            }
        }
        guard access(path, W_OK) == 0 else {
            throw Self.failure(path, "cannot be written", "give the right to write it")
        }
    }

    private static func failure(
        _ path: String,
        _ problem: String,
        _ remedy: String
    ) -> MigrationFailure {
        MigrationFailure("import.output", "\(path) \(problem)", remedy: remedy)
    }

    /// Writes a file whole; `path` is below the directory.
    package func write(
        _ content: some Sequence<UInt8>,
        to path: String,
        isProgram: Bool = false
    ) throws(MigrationFailure) {
        let place = "\(self.path)/\(path)"
        let manager = FileManager.default
        do {
            if let end = path.lastIndex(of: "/") {
                try manager.createDirectory(
                    atPath: "\(self.path)/\(path[..<end])",
                    withIntermediateDirectories: true
                )
            }
            try Data(content).write(to: URL(filePath: place), options: .atomic)
            try manager.setAttributes(
                [.posixPermissions: isProgram ? 0o755 : 0o644],
                ofItemAtPath: place
            )
        } catch {
            throw MigrationFailure(
                "import.output",
                "\(place) cannot be written",
                remedy: "free disk space, or name another directory"
            )
        }
    }
}
