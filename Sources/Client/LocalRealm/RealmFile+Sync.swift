internal import Changesets
internal import SQLite
package import Versions

/// Draining local writes, and integrating the server's changesets.
extension RealmFile {
    /// Drains the writes of other programs into the history; durable when the call returns.
    ///
    /// Costs next to nothing if there are none.
    package func drain() throws(LocalRealmError) -> CaptureReport {
        try mappingErrors {
            guard try Drain.isNeeded(on: connection, committed) else {
                return CaptureReport(localVersion: committed.state.localVersion)
            }
            let prepared = try drainBesidePrograms()
            if let prepared, !prepared.leavesRows { return prepared.report }
            var report = try write(.full) { try drain(&$0) }
            report.add(earlier: prepared?.report)
            return report
        }
    }

    /// Applies a download, in one transaction with the new cursors (sync history, 7).
    ///
    /// If merging takes long, only the first changesets are applied, and the cursors point behind
    /// them, as if the server had sent two downloads: call it again with
    /// ``ParsedDownload/rest(after:)``.
    ///
    /// Local writes in the capture log are drained before anything is merged, so that they are in the history; they
    /// stay there even if the server's changesets are refused.
    ///
    /// One that tells nothing that the server would not tell again is not written: most realms of a restarted agent
    /// have nothing new, and their files can stay at rest.
    package func integrate(
        _ download: ParsedDownload
    ) throws(LocalRealmError) -> IntegrationReport {
        if changesNothing(download) {
            return try mappingErrorsAtRest {
                committed.state.adopt(download.progress)
                return IntegrationReport(unchanged: committed.state.localVersion)
            }
        }
        return try mappingErrors {
            let incoming = try download.incoming.get()
            // Acknowledgements merge nothing: rows of the log can wait.
            let merges = !incoming.isEmpty
            let prepared = merges ? try drainBesidePrograms() : nil
            var (drained, result) = try write(.normal) { draft in
                let drains =
                    try merges || Drain.isNeeded(by: draft) || !draft.isVerified(on: connection)
                let drained =
                    drains
                    ? try drain(&draft) : CaptureReport(localVersion: draft.state.localVersion)
                return (drained, try integrate(incoming, of: download, &draft))
            }
            drained.add(earlier: prepared?.report)
            let outcome = try result.get()
            return IntegrationReport(
                drained: drained,
                localVersion: committed.state.localVersion,
                integratedChangesetCount: outcome.integrated,
                remainingChangesetCount: incoming.count - outcome.integrated,
                acknowledgedChangesetCount: outcome.acknowledged,
                learnedClasses: outcome.learned
            )
        }
    }

    /// The same with changesets as they come.
    @discardableResult
    package func integrate(
        _ changesets: [DownloadChangeset],
        progress: SyncProgress,
        downloadableBytes: UInt64
    ) throws(LocalRealmError) -> IntegrationReport {
        var part = ParsedDownload(
            changesets,
            progress: progress,
            downloadableBytes: downloadableBytes
        )
        var report = try integrate(part)
        while let rest = part.rest(after: report) {
            part = rest
            report.add(try integrate(part))
        }
        return report
    }

    func drain(_ draft: inout Draft) throws -> CaptureReport {
        try draft.verify(on: connection)
        if let notice = try remoteTriggers.refresh(draft.catalogue) { draft.notices.append(notice) }
        let notices = draft.takeNotices()
        guard try Drain.isNeeded(on: connection, draft) else {
            return CaptureReport(localVersion: draft.state.localVersion, notices: notices)
        }
        var drain = newDrain(draft)
        try drain.run()
        draft = drain.draft
        drain.report.notices = notices + (drain.impossible.notice.map { [$0] } ?? [])
        return drain.report
    }

    private func newDrain(_ draft: Draft, isPrepared: Bool = false) -> Drain {
        Drain(
            draft,
            connection,
            statements,
            now: clock(),
            splitGap: configuration.splitGap,
            counters: configuration.counters(in: draft.catalogue.schema),
            limits: configuration.drainLimits,
            requiresLinkTargets: configuration.requiresLinkTargets,
            isDirect: configuration.drainsDirectly,
            isPrepared: isPrepared
        )
    }

    /// Drains a log that can be prepared, so that programs wait only while the changesets are stored. Nil if nothing
    /// was drained.
    private func drainBesidePrograms() throws -> PreparedDrain? {
        guard let prepared = try? preparedDrain(), try store(prepared) else { return nil }
        return prepared
    }

    /// Nil if the drain needs the write lock for more; an error is left to that drain, too.
    func preparedDrain() throws -> PreparedDrain? {
        let draft = committed
        guard draft.notices.isEmpty, !draft.catalogue.hasAsymmetricClasses else { return nil }
        return try connection.transaction(.deferred) {
            guard try draft.isVerified(on: connection),
                try PreparedDrain.isWorthwhile(on: connection, rows: configuration.preparedRows)
            else { return nil }
            return try PreparedDrain(newDrain(draft, isPrepared: true))
        }
    }

    /// False, and nothing is stored, if the file has changed so that it must be drained again.
    func store(_ prepared: PreparedDrain) throws -> Bool {
        do {
            try write(.full) { try prepared.store(on: connection, &$0) }
            return true
        } catch is PreparedDrain.Outdated {
            return false
        }
    }

    /// The applied, acknowledged and learned parts of a download.
    typealias Outcome = (integrated: Int, acknowledged: Int, learned: [Text])

    /// The outcome, or why nothing was integrated.
    ///
    /// A failure that leaves the transaction usable is returned, not thrown: the writes drained
    /// before must be committed.
    private func integrate(
        _ incoming: [Integration.Incoming],
        of download: ParsedDownload,
        _ draft: inout Draft
    ) throws -> Result<Outcome, any Error> {
        // Only progress: nothing is written before it is known to fit. A savepoint would keep a copy of each
        // page of the history that is trimmed.
        guard !incoming.isEmpty else {
            do {
                return .success((0, try adopt(download.progress, of: download, &draft), []))
            } catch let error as ProgressDecrease {
                return .failure(error)
            }
        }
        let known = draft.catalogue
        return try attemptingIntegration(&draft) { draft, path in
            let count = try apply(incoming.prefix(download.changesetsAtOnce), &draft, path)
            var progress = download.progress
            if count < incoming.count, count > 0 {
                progress.download = incoming[count - 1].download.cursor
            }
            let acknowledged = try adopt(progress, of: download, &draft)
            let learned = draft.catalogue.tables.map(\.name)
                .filter { known.position(of: $0) == nil }
            return (count, acknowledged, learned)
        }
    }

    /// Whether a download brings nothing, and acknowledges nothing that is still stored.
    private func changesNothing(_ download: ParsedDownload) -> Bool {
        guard hasEmptyHistory, download.isEmpty, !committed.catalogue.hasAsymmetricClasses,
            !Drain.isNeeded(by: committed)
        else { return false }
        let state = committed.state
        return download.progress.download.serverVersion == state.progress.download.serverVersion
            && download.downloadableBytes == state.downloadableBytes
            && state.allows(download.progress)
    }

    /// - Returns: how many local changesets the server has acknowledged.
    private func adopt(
        _ progress: SyncProgress,
        of download: ParsedDownload,
        _ draft: inout Draft
    ) throws -> Int {
        let acknowledged = try draft.state.adopt(
            progress,
            downloadableBytes: download.downloadableBytes,
            isFirst: download.isFirst,
            history: History(connection: connection)
        )
        draft.ingest.acknowledge(through: draft.state.progress.upload.clientVersion)
        _ = draft.state.advanceVersion()
        return acknowledged
    }

    /// Runs an integration that may fail without the rest of its transaction. If the direct path fails, the
    /// one by instruction finds the first error.
    func attemptingIntegration(
        _ draft: inout Draft,
        _ body: (inout Draft, Integration.Path) throws -> Outcome
    ) throws -> Result<Outcome, any Error> {
        let result = try attemptingIntegration(&draft) { try body(&$0, .direct) }
        guard case .failure(is Integration.Failure) = result else { return result }
        return try attemptingIntegration(&draft) { try body(&$0, .byInstruction) }
    }

    private func attemptingIntegration(
        _ draft: inout Draft,
        _ body: (inout Draft) throws -> Outcome
    ) throws -> Result<Outcome, any Error> {
        let beforehand = draft
        do {
            return .success(try connection.savepoint("integration") { try body(&draft) })
        } catch {
            guard connection.isInTransaction else { throw error }
            // What the disk refuses once, it may refuse again: all of it is tried later.
            if let error = error as? SQLiteError,
                [.diskFull, .inputOutput].contains(error.condition)
            {
                throw error
            }
            draft = beforehand
            statements.removeAll()
            return .failure(remoteTriggers.isEmpty ? error : RemoteTriggers.explained(error))
        }
    }

    /// - Returns: how many of the changesets were applied.
    func apply(
        _ incoming: ArraySlice<Integration.Incoming>,
        _ draft: inout Draft,
        _ path: Integration.Path
    ) throws -> Int {
        guard !incoming.isEmpty else { return 0 }
        guard draft.uniqueIndexes.isEmpty else {
            throw LocalRealmError(
                .schemaUniqueIndex,
                path: configuration.path,
                "UNIQUE index \(draft.uniqueIndexes.joined(separator: ", "))"
            )
        }
        let integration = Integration(
            connection: connection,
            statements: statements,
            options: options,
            pairLimit: configuration.mergeLimitInPairs,
            path: path
        )
        let count = try integration.run(incoming, &draft)
        for download in incoming.prefix(count).map(\.download) {
            draft.state.downloadedBytes = draft.state.downloadedBytes.adding(
                clamping: download.originalSizeInBytes
            )
        }
        return count
    }
}
