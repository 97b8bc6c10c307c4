import Changesets
import Coordination
package import LocalRealm
import Logging
package import Subscriptions
import SyncProtocol
package import Versions

/// Subscription sets: changes, waits, and what the server answers (flexible sync, 3 to 6).
extension RealmClient {
    /// The sets of the file; nil unless the realm uses flexible sync.
    package var subscriptions: SubscriptionSets? { status.subscriptions }

    /// Commits a changed set, and sends it to the server as soon as what was written before is uploaded.
    ///
    /// - Throws: a `SubscriptionError`, or a `LocalRealmError` of the file.
    package func updateSubscriptions(
        _ operations: [SubscriptionOperation],
        isForced: Bool = false,
        isChecked: Bool = true
    ) async throws -> SubscriptionUpdate {
        // Each call draws other ids.
        _ = random.next()
        let update = try await store.updateSubscriptions(
            operations,
            isForced: isForced,
            isChecked: isChecked,
            random: random
        )
        note(update.drained)
        reportSubscriptions()
        reportLocalVersion()
        return update
    }

    /// Waits until the set is complete, failed or superseded. Lost connections do not end the wait, an
    /// inactive session does (flexible sync, 4).
    package func waitForSubscriptions(
        _ version: QueryVersion,
        timeout: Duration?,
        _ time: SyncTime
    ) async -> SubscriptionOutcome {
        guard !isClosed else { return .interrupted(.offline(reason: "the realm is closed")) }
        let waiter = SubscriptionWaiter(version: version)
        subscriptionWaiters.append(waiter)
        checkSubscriptionWaiters()
        if case .inactive(let issue) = phase { waiter.outcome.keep(.interrupted(.refused(issue))) }
        return await withTaskGroup { group in
            group.addTask {
                guard let timeout, (try? await time.sleep(timeout)) != nil else { return }
                waiter.outcome.keep(.timedOut)
            }
            let outcome = await withTaskCancellationHandler {
                await waiter.outcome.value
            } onCancel: {
                waiter.outcome.keep(.interrupted(.offline(reason: "the wait was cancelled")))
            }
            group.cancelAll()
            subscriptionWaiters.removeAll { $0.outcome === waiter.outcome }
            return outcome
        }
    }

    /// Tells session, owner and waiters of changed sets.
    func reportSubscriptions() {
        guard let sets = status.subscriptions, let earlier = reportedSets, sets != earlier else {
            return
        }
        reportedSets = sets
        session?.subscriptionsChanged(SessionSubscriptions(sets))
        wakeConnection()
        for set in earlier.sets where sets[set.version] == nil {
            report(.subscriptions(SubscriptionChange(superseding: set)))
        }
        for set in sets.sets where earlier[set.version]?.state != set.state {
            report(.subscriptions(SubscriptionChange(set)))
            log(set)
        }
        checkSubscriptionWaiters()
    }

    private func log(_ set: SubscriptionSet) {
        guard case .failed(let text) = set.state else { return }
        logger.error(
            "the server rejects a subscription set",
            metadata: [
                "version": "\(set.version.rawValue)", "detail": "\(text)",
                "subscriptions": "\(set.subscriptions(blamedBy: text).map(\.description))",
            ]
        )
    }

    private func checkSubscriptionWaiters() {
        guard let sets = status.subscriptions else {
            return finishSubscriptionWaiters(.unknown)
        }
        for waiter in subscriptionWaiters {
            switch sets.progress(of: waiter.version) {
            case nil: waiter.outcome.keep(.unknown)
            case .pending?: break
            case let progress?: waiter.outcome.keep(.reached(progress))
            }
        }
    }

    func finishSubscriptionWaiters(_ outcome: SubscriptionOutcome) {
        for waiter in subscriptionWaiters { waiter.outcome.keep(outcome) }
    }

    // MARK: Work for the session

    /// Stages a message of a bootstrap, and applies the bootstrap behind the last.
    ///
    /// - Returns: nil if the file stayed locked.
    func integrate(
        _ message: BootstrapMessage,
        _ estimate: ProgressEstimate
    ) async throws(LocalRealmError) -> IntegrationReport? {
        let report = try await retryWhileBusy { () async throws(LocalRealmError) in
            try await store.stage(message)
        }
        guard let report else { return nil }
        bootstrapEstimate = message.isLast ? nil : Double(estimate.tenThousandths) / 10_000
        return report
    }

    /// The server rejects a set; the session keeps the view of the active one.
    func failSubscriptions(
        _ error: ServerMessage.QueryError,
        of ident: SessionIdent
    ) async {
        do throws(LocalRealmError) {
            _ = try await retryWhileBusy { () async throws(LocalRealmError) in
                try await store.failSubscriptions(error.version, error.message.description)
            }
        } catch {
            // A set that was superseded meanwhile needs no error.
            if error.kind != .badSubscriptions { fail(error) }
        }
        reportSubscriptions()
        if session?.ident == ident { session?.queryErrorStored() }
    }
}

extension RealmClient {
    /// The subscriptions that select the objects of a partition in each class that can have them (flexible
    /// sync, 16.1).
    package func partitionSubscriptions(
        _ record: RealmMigration
    ) async throws(LocalRealmError) -> [SubscriptionContent] {
        try await store.partitionSubscriptions(record)
    }
}
