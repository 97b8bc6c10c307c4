import FoundationEssentials
import Glibc
import Testing

/// A file system of some megabytes in memory that a test fills and frees.
struct SmallDisk {
    let path: String

    /// Whether this machine can make one, and if not, why.
    static let obstacle: String? = {
        guard getuid() == 0 else { return "it needs root" }
        let path = FileManager.default.temporaryDirectory.path + "/disk-\(getpid())"
        guard mkdir(path, 0o700) == 0 else { return "there is no place for it" }
        defer { rmdir(path) }
        guard mount("tmpfs", path, "tmpfs", 0, "size=1m") == 0 else {
            return "mounting is forbidden"
        }
        umount2(path, Int32(MNT_DETACH))
        return nil
    }()

    /// Lends one at the path to the body.
    static func with(
        at path: String,
        sizeInMebibytes size: Int,
        _ body: (SmallDisk) async throws -> Void
    ) async throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try #require(mount("tmpfs", path, "tmpfs", 0, "size=\(size)m,mode=700") == 0)
        // Programs that are still ending may have files open there.
        defer { umount2(path, Int32(MNT_DETACH)) }
        try await body(SmallDisk(path: path))
    }

    /// Leaves not a byte, also of what the kernel frees some time after a program has ended.
    func fill() async throws {
        let descriptor = open("\(path)/ballast", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let page = [UInt8](repeating: 0, count: 4096)
        var passesWithoutSpace = 0
        for _ in 0..<500 where passesWithoutSpace < 2 {
            passesWithoutSpace += 1
            while write(descriptor, page, page.count) > 0 { passesWithoutSpace = 0 }
            try #require(errno == ENOSPC)
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    func free() {
        unlink("\(path)/ballast")
    }
}
