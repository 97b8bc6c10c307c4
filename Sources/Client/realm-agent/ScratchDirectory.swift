import Control
import Glibc

/// A directory below `TMPDIR` for files of this command only.
struct ScratchDirectory {
    let path: String

    init() throws(ControlError) {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/realm-agent-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw ControlError(
                code: "realm.cannot_open",
                message: "\(parent): \(String(cString: strerror(errno)).lowercased())",
                remedy: "set TMPDIR to a directory with room for the file"
            )
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes it with its files; it contains no directories.
    func remove() {
        if let directory = opendir(path) {
            while let entry = readdir(directory) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                    pointer.withMemoryRebound(to: CChar.self, capacity: 256) {
                        String(cString: $0)
                    }
                }
                unlink("\(path)/\(name)")
            }
            closedir(directory)
        }
        rmdir(path)
    }
}
