import ServerStore
import Versions

/// The newest versions of files that this process has passed on to its sessions.
struct KnownVersions: Sendable {
    private var versions: [ServerFileID: ServerVersion] = [:]

    /// Whether a growth is news.
    mutating func grows(_ file: ServerFileID, to version: ServerVersion) -> Bool {
        guard version > versions[file] ?? .zero else { return false }
        versions[file] = version
        return true
    }

    /// The files that are not at the version of before. A version that went back counts, too: the
    /// sessions find out.
    mutating func compare(
        _ found: [ServerFileID: ServerVersion]
    ) -> [(file: ServerFileID, version: ServerVersion)] {
        let news = found.filter { versions[$0.key] != $0.value }
        // Files without sessions are forgotten.
        versions = found
        return news.map { (file: $0.key, version: $0.value) }
    }
}
