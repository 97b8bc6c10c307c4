internal import FoundationEssentials

/// A directory of its own for a test, removed with everything in it when the value goes.
package final class TemporaryDirectory: Sendable {
    package let path: String

    /// `isInMemory`: where syncs cost nothing, if this machine has such a place.
    package init(isInMemory: Bool = false) throws {
        let memory = "/dev/shm"
        let parent =
            isInMemory && FileManager.default.isWritableFile(atPath: memory)
            ? URL(filePath: memory) : FileManager.default.temporaryDirectory
        let url = parent.appending(path: "realm-agent-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        self.path = url.path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    package func file(_ name: String) -> String {
        path + "/" + name
    }
}
