import ServerStore
import Versions

extension FileReading {
    /// The newest version of a file, as clients learn of it.
    func newestVersion(of file: ServerFile) throws(StoreError) -> SaltedServerVersion {
        let version = file.currentVersion
        guard version > .zero else { return .zero }
        let salt = try salt(of: version, in: file.id) ?? file.baseVersion.salt
        return SaltedServerVersion(version: version, salt: salt)
    }

    /// The salt of a version of a file; also of the one up to which the history is trimmed. Nil if the
    /// history has no such version.
    func salt(of version: ServerVersion, in file: ServerFile) throws(StoreError) -> Salt? {
        let base = file.baseVersion
        if version == base.version { return base.salt }
        // A store may keep rows of a terminated history for a while.
        return version < base.version ? nil : try salt(of: version, in: file.id)
    }
}
