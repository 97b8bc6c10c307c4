internal import Changesets
internal import SQLite
internal import Subscriptions
internal import Versions

/// Staging and applying the bootstraps of flexible sync (flexible sync, 6).
///
/// Each message is staged in one transaction. The whole bootstrap is applied in another, so that programs
/// see one change of the view. Whenever the process ends, the next one finds a complete bootstrap, which it
/// applies, or an incomplete one, which it deletes.
extension RealmFile {
    /// Stages one message; a complete bootstrap is durable when the call returns.
    package func stage(_ message: BootstrapMessage) throws(LocalRealmError) {
        try mappingErrors {
            try write(message.isLast ? .full : .normal) { draft in
                let store = BootstrapStore(connection: connection)
                let staged = try store.header()
                if message.isFirst || staged?.version != message.version || staged?.progress != nil
                {
                    guard message.isFirst else {
                        throw SubscriptionViolation.unknownVersion(message.version)
                    }
                    try store.removeAll()
                    try draft.changeSubscriptions(on: connection) { sets in
                        try sets.beginBootstrap(message.version)
                    }
                    try store.begin(message.version)
                }
                try store.append(message.changesets)
                if message.isLast { try store.finish(message.progress) }
            }
        }
    }

    /// Applies the staged bootstrap, in one transaction with the new cursors and the state of its set.
    ///
    /// Local writes in the capture log are drained first; they stay in the history even if the bootstrap
    /// cannot be applied, which then stays staged.
    ///
    /// - Returns: nil if no complete bootstrap is staged.
    package func applyBootstrap() throws(LocalRealmError) -> IntegrationReport? {
        try mappingErrors {
            guard let header = try BootstrapStore(connection: connection).header(),
                let progress = header.progress
            else { return nil }
            let (drained, result) = try write(.normal) { draft in
                let drained = try drain(&draft)
                return (drained, try applyBootstrap(header.version, progress, &draft))
            }
            let outcome = try result.get()
            return IntegrationReport(
                drained: drained,
                localVersion: committed.state.localVersion,
                integratedChangesetCount: outcome.integrated,
                remainingChangesetCount: 0,
                acknowledgedChangesetCount: outcome.acknowledged,
                learnedClasses: outcome.learned
            )
        }
    }

    /// The outcome, or why nothing was applied.
    private func applyBootstrap(
        _ version: QueryVersion,
        _ progress: SyncProgress,
        _ draft: inout Draft
    ) throws -> Result<Outcome, any Error> {
        try attemptingIntegration(&draft) { draft, path in
            let store = BootstrapStore(connection: connection)
            let known = Set(draft.catalogue.tables.map(\.name))
            var (row, count) = (Int64.min, 0)
            while true {
                let (changesets, last) = try store.changesets(
                    after: row,
                    limitInBytes: configuration.bootstrapBatchInBytes
                )
                guard !changesets.isEmpty else { break }
                var rest = try Integration.parse(changesets)[...]
                while !rest.isEmpty { rest = rest.dropFirst(try apply(rest, &draft, path)) }
                (row, count) = (last, count + changesets.count)
            }
            let acknowledged = try draft.state.adopt(
                progress,
                downloadableBytes: 0,
                isFirst: true,
                history: History(connection: connection)
            )
            draft.ingest.acknowledge(through: draft.state.progress.upload.clientVersion)
            _ = draft.state.advanceVersion()
            try store.removeAll()
            try draft.changeSubscriptions(on: connection) { sets in
                try sets.completeBootstrap(version)
            }
            let learned = draft.catalogue.tables.map(\.name).filter { !known.contains($0) }
            return (count, acknowledged, learned)
        }
    }

    /// Applies a complete bootstrap that an earlier process has staged, and deletes any other; its set is
    /// queried again. One that cannot be applied is deleted, too: the server sends it again, and gets the error.
    func settleBootstrap() throws(LocalRealmError) {
        guard committed.subscriptions != nil else { return }
        let isOwn = committed.state.fileIdent != .none
        do throws(LocalRealmError) {
            if isOwn, try applyBootstrap() != nil { return }
        } catch {
            guard error.integrationFailureCode != nil else { throw error }
        }
        try mappingErrors {
            let store = BootstrapStore(connection: connection)
            let isStaged = try store.header() != nil
            let isMarked = committed.subscriptions?.sets.contains { $0.state == .bootstrapping }
            guard isStaged || isMarked == true else { return }
            try write(.normal) { draft in
                try store.removeAll()
                try draft.changeSubscriptions(on: connection) { $0.cancelBootstraps() }
            }
        }
    }
}
