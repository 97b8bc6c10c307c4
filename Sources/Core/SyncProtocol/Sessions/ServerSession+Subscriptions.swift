import Changesets
package import Versions

/// Subscription sets and their bootstraps (flexible sync, 5 and 7).
///
/// The store's work for a set is one step, so uploads before and behind a QUERY are integrated under
/// the set that was in force when they arrived. No scan begins before it ends.
extension ServerSession {
    mutating func received(_ query: ClientMessage.Query, _ running: Running) -> [Effect] {
        var running = running
        guard running.subscriptions?.admit(query.version) == true else {
            return fail(
                .badQueryVersion,
                message:
                    "query version \(query.version.rawValue) is not newer than the last (QUERY)"
            )
        }
        running.subscriptions?.begin(isOfIdent: false)
        state = .running(running)
        return [.work(.subscribe(query))]
    }

    /// Begins the bootstrap of the IDENT's set.
    func begin(_ query: ClientMessage.Query, _ running: inout Running) -> [Effect] {
        running.subscriptions?.begin(isOfIdent: true)
        return [.work(.subscribe(query))]
    }

    /// The position from which the next step of a subscription must send; nil if the session does not
    /// run. From now on scans belong to that step.
    package mutating func beginSubscription() -> DownloadCursor? {
        guard case .running(var running) = state, running.subscriptions?.isWaiting == true else {
            return nil
        }
        running.subscriptions?.beginWork()
        state = .running(running)
        return running.position
    }

    /// The history in front of a bootstrap.
    mutating func scannedBeforeBootstrap(_ scanned: Scanned, _ running: Running) -> [Effect] {
        var running = running
        let latest = scanned.progress.latestServerVersion.version
        running.newestVersion = max(running.newestVersion, latest)
        let effects = send(scanned, answersMark: false, &running)
        state = .running(running)
        return effects
    }

    /// One message of a bootstrap.
    package struct BootstrapPart: Hashable, Sendable {
        package let query: QueryVersion
        /// Not empty: clients wait forever for the end of an empty bootstrap (wire protocol, 13.2).
        package let changesets: [DownloadChangeset]
        /// The same in each part: the position behind the whole bootstrap.
        package let progress: SyncProgress
        /// The fraction that is sent with this part.
        package let estimate: ProgressEstimate
        package let isLast: Bool

        package init(
            query: QueryVersion,
            changesets: [DownloadChangeset],
            progress: SyncProgress,
            estimate: ProgressEstimate,
            isLast: Bool
        ) {
            self.query = query
            self.changesets = changesets
            self.progress = progress
            self.estimate = estimate
            self.isLast = isLast
        }
    }

    package mutating func bootstrapped(_ part: BootstrapPart) -> [Effect] {
        guard case .running(var running) = state, running.subscriptions?.isAtWork == true else {
            return []
        }
        let latest = part.progress.latestServerVersion.version
        running.newestVersion = max(running.newestVersion, latest)
        let extent = ServerMessage.Extent.query(
            part.query,
            part.isLast ? .lastOfBootstrap : .moreToCome,
            part.isLast ? .complete : part.estimate
        )
        let effects: [Effect] = [.send(download(part.changesets, part.progress, extent))]
        guard part.isLast else {
            state = .running(running)
            return effects
        }
        running.hasSentDownload = true
        running.cursor = part.progress.download
        running.position = part.progress.download
        running.subscriptions?.noteSent(part.progress)
        running.subscriptions?.completed(part.query)
        return effects + proceed(running)
    }

    /// The set is not valid. A QUERY is answered, and the session continues with the set before; an
    /// IDENT ends the session (wire protocol, 6.6 and 12.5).
    package mutating func refused(_ version: QueryVersion, message: String) -> [Effect] {
        guard case .running(var running) = state, running.subscriptions?.isWaiting == true else {
            return []
        }
        guard running.subscriptions?.isOfIdent != true else {
            return fail(.badQuery, message: message)
        }
        running.subscriptions?.refused()
        let error = ServerMessage.QueryError(
            code: SyncErrorCode.badQuery.rawValue,
            message: Text(message),
            version: version
        )
        return [.send(.queryError(ident, error))] + proceed(running)
    }
}
