import ClientReset
import Glibc
import LocalRealm
import Scheduling

/// Export of the unsynced changes that a reset discards: JSON lines, one for each object (client
/// reset, 3).
///
/// Each line has the object's earlier state, the changes of its properties, and a statement that
/// reapplies them.
struct RecoveredFile {
    let path: String

    struct Failure: Error, CustomStringConvertible {
        let path: String
        let reason: String

        var description: String { "\(path) cannot be written: \(reason)" }
    }

    /// A file in the directory, named after the realm and the time.
    init(in directory: String, realm: String, at moment: WallTime, suffix: String) {
        let stamp = "\(moment)".filter { $0.isNumber || $0 == "T" || $0 == "Z" }
        path = "\(directory)/\(realm)-\(stamp)\(suffix)"
    }

    /// Writes the lines: the file appears whole and durable, or not at all. A file of this name was
    /// left by a failed attempt, and is replaced.
    func write(_ objects: [UnsyncedObject]) throws(Failure) {
        let parent = String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
        _ = mkdir(parent, 0o750)
        let unfinished = path + ".partial"
        let descriptor = open(unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else { throw failure }
        defer { close(descriptor) }
        for object in objects {
            guard let line = try? object.line else {
                throw Failure(path: path, reason: "an object has no JSON form")
            }
            try write(line, to: descriptor)
        }
        guard fsync(descriptor) == 0, rename(unfinished, path) == 0 else { throw failure }
        let directory = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw failure }
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw failure }
    }

    private func write(_ line: [UInt8], to descriptor: CInt) throws(Failure) {
        var rest = line[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            guard count > 0 else { throw failure }
            rest = rest.dropFirst(count)
        }
    }

    private var failure: Failure {
        Failure(path: path, reason: String(cString: strerror(errno)).lowercased())
    }
}
