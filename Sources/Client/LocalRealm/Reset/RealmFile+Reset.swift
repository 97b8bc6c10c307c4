package import ClientReset
internal import SQLite
internal import Versions

/// A reset in three steps, each of them one transaction: begin, carry out, prove (client reset, 1).
///
/// The program may end between any two writes: before the second step the realm is as it was, after it
/// the realm is a client file that the server knows.
extension RealmFile {
    /// The attempt that is not confirmed yet, if there is one.
    package func resetAttempt() throws(LocalRealmError) -> ResetAttempt? {
        // An unread file has no attempt: a record is written only without one.
        guard !rest.isUnread else { return nil }
        return try mappingErrors { try ResetRow(connection: connection).read() }
    }

    /// Records that a reset begins; durable when the call returns.
    package func beginReset(_ attempt: ResetAttempt) throws(LocalRealmError) {
        try mappingErrors {
            try write(.full) { _ in try ResetRow(connection: connection).write(attempt) }
        }
    }

    /// Records that the attempt has failed, for the next one.
    package func failReset() throws(LocalRealmError) {
        try mappingErrors {
            try write(.full) { _ in try ResetRow(connection: connection).markSpent() }
        }
    }

    /// Removes the record of the attempt, so that the next one does not count as a cycle: the realm
    /// has uploaded and downloaded everything since, or its owner has removed what stopped the
    /// attempt.
    package func forgetReset() throws(LocalRealmError) {
        try mappingErrors {
            try write(.normal) { _ in try ResetRow(connection: connection).remove() }
        }
    }

    /// Rehearses a reset of the realm in its current state; changes nothing.
    package func rehearseReset(
        to freshPath: String,
        _ method: ResetMethod,
        switching change: ModeSwitch? = nil
    ) throws -> ResetReport {
        let fresh = try FreshCopy(path: freshPath, vfs: configuration.vfs)
        defer { fresh.close() }
        try mappingErrors {}
        return try connection.transaction(.deferred) {
            try ResetPlan(connection, committed, statements, fresh, method, change).report
        }
    }

    /// Replaces the realm's state by that of the fresh copy, with or without the unsynced changes,
    /// in one transaction that programs see as one change.
    ///
    /// Their own writes that precede it are part of it; later ones are captured as ever.
    /// `beforehand` is called with the report before anything is changed, and may forbid it by
    /// throwing.
    ///
    /// - Throws: a `ResetFailure` if it is not possible, a `LocalRealmError` for any error of the
    ///   file, or the error of `beforehand`. The realm is as it was then.
    package func carryOutReset(
        to freshPath: String,
        _ method: ResetMethod,
        switching change: ModeSwitch? = nil,
        beforehand: (ResetReport) throws -> Void = { _ in }
    ) throws -> ResetReport {
        do {
            let fresh = try FreshCopy(path: freshPath, vfs: configuration.vfs)
            defer { fresh.close() }
            return try write(.full) { draft in
                _ = try drain(&draft)
                let plan = try ResetPlan(connection, draft, statements, fresh, method, change)
                let report = plan.report
                try beforehand(report)
                let writer = ResetWriter(
                    connection: connection,
                    statements: statements,
                    options: options
                )
                try writer.write(plan, &draft)
                if case .toPartition? = change {
                    options = configuration.options
                    try draft.renewDefaults(options, on: connection)
                    statements.removeAll()
                }
                return report
            }
        } catch let failure as ResetFailure {
            throw failure
        } catch {
            return try mappingErrors { throw error }
        }
    }
}
