import ClientReset
import Glibc
import LocalRealm
import Logging
import Scheduling

/// Writes down what a reset is about to change, within its transaction: no other program can write
/// meanwhile, so nothing is missing (client reset, 3 and 9).
struct ResetArchive: Sendable {
    let options: RealmOptions
    let recoveredDirectory: String
    let attempt: ResetAttempt
    /// Nil if the reset is over.
    let cause: ResetCause?
    /// The delegate wants to see the realm as it was.
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

    /// Without it the delegate sees less afterwards; the reset continues.
    private func keepEarlierRealm() {
        let path = RealmFile.earlierPath(of: options.path)
        do throws(LocalRealmError) {
            try RealmFile.copyCommitted(from: options.path, to: path)
            chmod(path, 0o440)
        } catch {
            unlink(path)
            logger.error(
                "handlers will not see the realm as it was",
                metadata: ["code": "\(error.code)", "detail": "\(error.message)"]
            )
        }
    }

    /// Where the delegate sees the realm as it was, if it does.
    var earlierPath: String? {
        let path = RealmFile.earlierPath(of: options.path)
        return access(path, F_OK) == 0 ? path : nil
    }

    /// Where the discarded changes are; nil if there are none, or they are not kept.
    func exportPath(for report: ResetReport) -> String? {
        hasExport(report) ? export.path : nil
    }

    var existingExportPath: String? {
        access(export.path, F_OK) == 0 ? export.path : nil
    }

    /// Where the whole realm is kept, if what of it is unsynced is unknown.
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
