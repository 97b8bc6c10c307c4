import ClientReset
import Config
import Glibc
import LocalRealm
import Logging
import Platform

/// What of a realm is written down before a reset changes it, within its transaction: nobody else can
/// write meanwhile, so nothing is missing (client reset, 3 and 9).
struct ResetKeepsake: Sendable {
    let configuration: RealmConfiguration
    let recoveredDirectory: String
    let attempt: ResetAttempt
    /// Nil if the reset is over.
    let cause: ResetCause?
    /// Handlers want to see the realm as it was.
    let keepsEarlierRealm: Bool
    let logger: Logger

    func keep(_ report: ResetReport) throws {
        if hasExport(report) { try export.write(report.unsynced) }
        if let copyPath {
            try DataDirectory.prepareRecovered(recoveredDirectory)
            try RealmFile.copyCommitted(from: configuration.path, to: copyPath)
        }
        if keepsEarlierRealm { keepEarlierRealm() }
    }

    /// Without it the handlers that come afterwards see less; the reset goes on.
    private func keepEarlierRealm() {
        let path = RealmFile.earlierPath(of: configuration.path)
        do throws(LocalRealmError) {
            try RealmFile.copyCommitted(from: configuration.path, to: path)
            chmod(path, 0o440)
        } catch {
            unlink(path)
            logger.error(
                "handlers will not see the realm as it was",
                metadata: ["code": "\(error.code)", "detail": "\(error.message)"]
            )
        }
    }

    /// Where handlers see the realm as it was, if they do.
    var earlierPath: String? {
        let path = RealmFile.earlierPath(of: configuration.path)
        return access(path, F_OK) == 0 ? path : nil
    }

    /// Where the discarded changes are; nil if there are none, or nobody wants to keep them.
    func exportPath(for report: ResetReport) -> String? {
        hasExport(report) ? export.path : nil
    }

    var existingExportPath: String? {
        access(export.path, F_OK) == 0 ? export.path : nil
    }

    /// Where the whole realm is kept because nobody can tell what of it is unsynced.
    var copyPath: String? {
        guard cause?.origin == .alteredTables else { return nil }
        return recovered(".sqlite").path
    }

    private func hasExport(_ report: ResetReport) -> Bool {
        configuration.clientReset.exportsDiscarded && !report.didRecover && !report.unsynced.isEmpty
    }

    private var export: RecoveredFile { recovered(".jsonl") }

    private func recovered(_ suffix: String) -> RecoveredFile {
        RecoveredFile(
            in: recoveredDirectory,
            realm: configuration.name,
            at: WallTime(millisecondsSince1970: attempt.startedAt),
            suffix: suffix
        )
    }
}
