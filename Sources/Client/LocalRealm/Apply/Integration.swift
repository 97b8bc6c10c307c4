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
    /// The most pairs of instructions to merge in one transaction.
    let pairLimit: Int
    let path: Path

    /// A way to apply plain changesets; both have the same result.
    enum Path {
        /// Straight from their bytes, if they meet no local change. Of several errors any may be found.
        case direct
        /// Instruction by instruction: finds the first error.
        case byInstruction
    }

    /// A downloaded changeset, parsed before the write lock was taken.
    struct Incoming {
        let download: DownloadChangeset
        let content: Content

        enum Content {
            case plain(PlainChangeset)
            case decoded(Changeset)
        }

        var isPlain: Bool { if case .plain = content { true } else { false } }
    }

    /// An error in a downloaded changeset.
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
                let content: Incoming.Content =
                    if let plain = PlainChangeset(download.bytes) {
                        .plain(plain)
                    } else {
                        .decoded(try Changeset(decoding: download.bytes))
                    }
                result.append(Incoming(download: download, content: content))
            } catch {
                throw Failure(download, error)
            }
        }
        return result
    }

    /// Applies changesets in their order, as many as the limit on merging allows and at least one;
    /// the cursors are left to the caller.
    ///
    /// The rest has not been merged at all: neither the tables nor the reciprocals include it.
    ///
    /// - Returns: how many were applied.
    func run(_ incoming: ArraySlice<Incoming>, _ draft: inout Draft) throws -> Int {
        let editor = SchemaEditor(
            connection,
            draft.catalogue,
            options: options,
            published: CatalogueStore.learned
        )
        var applier = ChangesetApplier(editor, statements)
        var ours = OurChangesets(connection: connection, state: draft.state)
        var rest = incoming
        var pairsLeft = pairLimit
        while let next = rest.first {
            let base = mergeBase(of: next, draft.state)
            if let plain = try unmerged(next, after: base, &ours) {
                let number = rest.startIndex
                try locatingErrors(incoming) { try applier.apply(plain, number: number) }
                rest = rest.dropFirst()
                continue
            }
            let run = try rest.prefix {
                try mergeBase(of: $0, draft.state) == base
                    && unmerged($0, after: base, &ours) == nil
            }
            let isFirst = rest.startIndex == incoming.startIndex
            let transformed = try rebase(run, over: base, &ours, &pairsLeft, mustBegin: isFirst)
            for (changeset, number) in zip(transformed, run.indices) {
                try locatingErrors(incoming) { try applier.apply(changeset, number: number) }
            }
            rest = rest.dropFirst(transformed.count)
            if transformed.count < run.count { break }
        }
        try locatingErrors(incoming) { try applier.finish() }
        try ours.saveReciprocals()
        try draft.adopt(applier.editor)
        return rest.startIndex - incoming.startIndex
    }

    /// The changeset if it is plain, and no merge would change it or a local one.
    private func unmerged(
        _ incoming: Incoming,
        after base: ClientVersion,
        _ ours: inout OurChangesets
    ) throws -> PlainChangeset? {
        guard path == .direct, case .plain(let changeset) = incoming.content,
            try !ours.mayMeet(changeset, after: base)
        else { return nil }
        return changeset
    }

    /// The last own version that the changeset had seen; trimmed changesets cannot conflict.
    private func mergeBase(of incoming: Incoming, _ state: RealmStateRow) -> ClientVersion {
        max(incoming.download.cursor.lastIntegratedClientVersion, state.historyBaseVersion)
    }

    /// Rebases as many changesets of the run as the limit allows. One that exceeds it alone is
    /// still rebased if the transaction has to begin with it.
    private func rebase(
        _ run: ArraySlice<Incoming>,
        over base: ClientVersion,
        _ ours: inout OurChangesets,
        _ pairsLeft: inout Int,
        mustBegin: Bool
    ) throws -> [Changeset] {
        var part = run
        while true {
            // A merge has the same result whether done at once or in pieces, but the state left by
            // an abandoned attempt is not usable.
            let limit = part.count == 1 && mustBegin ? .max : pairsLeft
            var (attempt, left) = (ours, limit)
            var theirs = try part.map { try $0.operand() }
            do {
                try attempt.rebase(&theirs, after: base, pairsLeft: &left)
                ours = attempt
                pairsLeft = max(0, pairsLeft - (limit - left))
                return theirs.map(\.changeset)
            } catch let error as MergeError {
                guard error.reason == .tooManyPairs else {
                    throw Failure(part[part.startIndex + error.theirs.changeset].download, error)
                }
                if part.count == 1 { return [] }
                part = part.prefix(max(1, part.count / 4))
            }
        }
    }

    /// Folded actions are written later, so an error may show only after further changesets.
    private func locatingErrors(
        _ incoming: ArraySlice<Incoming>,
        _ body: () throws -> Void
    ) throws {
        do {
            try body()
        } catch let failure as ApplyFailure {
            throw Failure(incoming[failure.changeset].download, failure.error)
        }
    }
}

extension Integration.Incoming {
    fileprivate func operand() throws(DecodeError) -> MergeOperand {
        let changeset: Changeset =
            switch content {
            case .plain(let plain): try Changeset(decoding: plain.bytes)
            case .decoded(let changeset): changeset
            }
        return MergeOperand(
            changeset: changeset,
            stamp: Stamp(
                timestamp: download.originTimestamp.rawValue,
                fileIdent: download.originFileIdent.rawValue
            )
        )
    }
}
