internal import Changesets
internal import Merge
internal import SQLite
internal import Schemas
internal import Versions

/// Merges downloaded changesets with the local ones that the server had not seen, and applies them,
/// within the current transaction (sync history, 7.3 and 7.4).
struct Integration {
    let connection: Connection
    let statements: StatementPool
    let options: [PropertyName: PropertyOptions]

    /// A downloaded changeset, parsed before the write lock was taken.
    struct Incoming {
        let download: DownloadChangeset
        let changeset: Changeset
    }

    /// What went wrong with a downloaded changeset.
    struct Failure: Error, CustomStringConvertible {
        let version: ServerVersion
        let cause: any Error

        init(_ download: DownloadChangeset, _ cause: any Error) {
            self.version = download.cursor.serverVersion
            self.cause = cause
        }

        var description: String { "server version \(version.rawValue): \(cause)" }
    }

    static func parse(_ downloads: [DownloadChangeset]) throws(Failure) -> [Incoming] {
        var result: [Incoming] = []
        result.reserveCapacity(downloads.count)
        for download in downloads {
            do {
                let changeset = try Changeset(decoding: download.bytes)
                result.append(Incoming(download: download, changeset: changeset))
            } catch {
                throw Failure(download, error)
            }
        }
        return result
    }

    /// Applies the changesets; the cursors are left to the caller.
    func run(_ incoming: [Incoming], _ draft: inout Draft) throws {
        let editor = SchemaEditor(
            connection,
            draft.catalogue,
            options: options,
            published: CatalogueStore.learned
        )
        var applier = ChangesetApplier(editor, statements)
        var ours = OurChangesets(connection: connection, state: draft.state)
        var rest = incoming[...]
        while let next = rest.first {
            let base = mergeBase(of: next, draft.state)
            let run = rest.prefix { mergeBase(of: $0, draft.state) == base }
            rest = rest.dropFirst(run.count)
            let transformed = try rebase(run, over: base, &ours)
            for (changeset, number) in zip(transformed, run.indices) {
                try locatingErrors(incoming) { try applier.apply(changeset, number: number) }
            }
        }
        try locatingErrors(incoming) { try applier.finish() }
        try ours.saveReciprocals()
        try draft.adopt(applier.editor)
    }

    /// The last own version that the changeset had seen; what is trimmed can have been no obstacle.
    private func mergeBase(of incoming: Incoming, _ state: RealmState) -> ClientVersion {
        max(incoming.download.cursor.lastIntegratedClientVersion, state.historyBaseVersion)
    }

    private func rebase(
        _ run: ArraySlice<Incoming>,
        over base: ClientVersion,
        _ ours: inout OurChangesets
    ) throws -> [Changeset] {
        var theirs = run.map { incoming in
            MergeOperand(
                changeset: incoming.changeset,
                stamp: Stamp(
                    timestamp: incoming.download.originTimestamp.rawValue,
                    fileIdent: incoming.download.originFileIdent.rawValue
                )
            )
        }
        do {
            try ours.rebase(&theirs, after: base)
        } catch let error as MergeError {
            let culprit = run[run.startIndex + error.theirs.changeset].download
            throw Failure(culprit, error)
        }
        return theirs.map(\.changeset)
    }

    /// What is folded is written later, so a mistake may show only after further changesets.
    private func locatingErrors(_ incoming: [Incoming], _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let failure as ApplyFailure {
            throw Failure(incoming[failure.changeset].download, failure.error)
        }
    }
}
