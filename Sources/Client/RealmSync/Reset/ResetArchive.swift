import ClientReset
import Glibc
import LocalRealm
import Logging
import Scheduling

/// Archives the state that a reset is about to change, within its transaction: no other program can
/// write at that time, so the archive is complete (client reset, 3 and 9).
struct ResetArchive: Sendable {
    let options: RealmOptions
    let recoveredDirectory: String
    let attempt: ResetAttempt
    /// Nil after the reset.
    let cause: ResetCause?
    /// The delegate reads the realm's earlier state.
    let keepsEarlierRealm: Bool
    let logger: Logger

    func keep(_ report: ResetReport) throws {
        if hasExport(report) { try export.write(report.unsynced) }
        if let copyPath {
            try DataDirectory.prepareRecovered(recoveredDirectory)
            try RealmFile.copyCommitted(from: options.path, to: copyPath)
        }
        if keepsEarlierRealm { keepEarlierRealm() }
    }

    /// If this fails, the delegate cannot read the earlier state; the reset continues.
    private func keepEarlierRealm() {
        let path = RealmFile.earlierPath(of: options.path)
        do throws(LocalRealmError) {
            try RealmFile.copyCommitted(from: options.path, to: path)
            chmod(path, 0o440)
        } catch {
            unlink(path)
            logger.error(
                "realm's earlier state not kept for handlers",
                metadata: ["code": "\(error.code)", "detail": "\(error.message)"]
            )
        }
    }

    /// Path of the realm's earlier state for the delegate; nil if it does not read it.
    var earlierPath: String? {
        let path = RealmFile.earlierPath(of: options.path)
        return access(path, F_OK) == 0 ? path : nil
    }

    /// Path of the discarded changes; nil if there are none, or they are not kept.
    func exportPath(for report: ResetReport) -> String? {
        hasExport(report) ? export.path : nil
    }

    var existingExportPath: String? {
        access(export.path, F_OK) == 0 ? export.path : nil
    }

    /// Path of the archived realm, if its unsynced changes are unknown.
    var copyPath: String? {
        guard cause?.origin == .alteredTables else { return nil }
        return recovered(".sqlite").path
    }

    private func hasExport(_ report: ResetReport) -> Bool {
        options.reset.exportsDiscarded && !report.didRecover && !report.unsynced.isEmpty
    }

    private var export: RecoveredFile { recovered(".jsonl") }

    private func recovered(_ suffix: String) -> RecoveredFile {
        RecoveredFile(
            in: recoveredDirectory,
            realm: options.name,
            at: WallTime(millisecondsSince1970: attempt.startedAt),
            suffix: suffix
        )
    }
}
