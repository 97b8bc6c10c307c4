import ServerStore
import Versions

extension FileReading {
    /// The salt of a version of a file; also of the one up to which the history is trimmed. Nil if the
    /// history has no such version.
    func salt(of version: ServerVersion, in file: ServerFile) throws(StoreError) -> Salt? {
        version == file.baseVersion.version
            ? file.baseVersion.salt : try salt(of: version, in: file.id)
    }
}
