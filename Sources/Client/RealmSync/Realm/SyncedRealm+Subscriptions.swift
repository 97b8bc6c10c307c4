import LocalRealm
import Logging
public import Subscriptions
import SyncClient
public import Versions

/// The subscriptions of a realm of flexible sync.
extension SyncedRealm {
    /// The sets of the open file; nil if it is not open, or the realm holds a partition.
    public func subscriptions() async -> SubscriptionStatus? {
        guard let snapshot = await client?.snapshot() else { return nil }
        return SubscriptionStatus(snapshot)
    }

    /// Changes the subscriptions: all operations together make one new set. The server gets it once what was
    /// written before is uploaded; ``waitForSubscriptions(_:timeout:)`` waits for its objects.
    ///
    /// A set with the content of the latest one is not committed again.
    ///
    /// - Parameters:
    ///   - isForced: commit also an unchanged set, which makes the server send its objects again.
    ///   - isChecked: refuse queries that no server accepts, and write the others in their canonical form.
    @discardableResult
    public func updateSubscriptions(
        _ operations: [SubscriptionOperation],
        isForced: Bool = false,
        isChecked: Bool = true
    ) async throws(SubscriptionError) -> SubscriptionCommit {
        guard context.options.isFlexible else { throw SubscriptionError(.notFlexible, subject) }
        let result = await whileOpen { [subject] client in
            await Self.update(client, operations, subject, isForced: isForced, isChecked: isChecked)
        }
        guard let result else { throw SubscriptionError(.notOpen, subject) }
        return try result.get()
    }

    nonisolated var subject: String { "realm \(name)" }

    static func update(
        _ client: RealmClient,
        _ operations: [SubscriptionOperation],
        _ subject: String,
        isForced: Bool = false,
        isChecked: Bool = true
    ) async -> Result<SubscriptionCommit, SubscriptionError> {
        do {
            let update = try await client.updateSubscriptions(
                operations,
                isForced: isForced,
                isChecked: isChecked
            )
            return .success(
                SubscriptionCommit(set: update.set, isNew: update.isNew, counts: update.counts)
            )
        } catch let error as SubscriptionError {
            return .failure(error)
        } catch {
            return .failure(SubscriptionError(.file, subject, detail: "\(error)"))
        }
    }

    /// Waits until the server has answered a set: its objects are in the file, or it is rejected, or a newer
    /// one has taken its place. Lost connections do not end the wait.
    ///
    /// - Parameters:
    ///   - version: the set; nil for the latest one.
    ///   - timeout: maximum time to wait; nil for no limit.
    public func waitForSubscriptions(
        _ version: QueryVersion? = nil,
        timeout: Duration? = nil
    ) async -> SubscriptionResult {
        let deadline = timeout.map { context.time.uptime() + $0 }
        if let currentSuspension {
            return .ended(
                SyncResult(
                    .offline,
                    detail: "the realm is suspended (\(currentSuspension.cause.rawValue))"
                )
            )
        }
        let client: RealmClient
        do throws(RealmFailure) {
            client = try await running(until: deadline, toleratesOffline: true)
        } catch {
            return .ended(error.result)
        }
        guard let wanted = await client.subscriptions.map({ version ?? $0.latest.version }) else {
            return .unknown
        }
        let rest = deadline.map { max(.zero, $0 - context.time.uptime()) }
        switch await client.waitForSubscriptions(wanted, timeout: rest, context.time) {
        case .reached(.complete): return .complete
        case .reached(.superseded): return .superseded
        case .reached(.failed(let text)):
            let set = await client.subscriptions?[wanted]
            return .failed(text, rejected: set?.rejected ?? [])
        // A wait never ends at a pending set.
        case .reached(.pending), .unknown: return .unknown
        case .interrupted(let outcome): return .ended(SyncResult(outcome))
        case .timedOut: return .ended(SyncResult(.timedOut))
        }
    }

    /// Commits the initial subscriptions to a new file, and to any at the first opening in a process if the
    /// options say so (flexible sync, 15).
    func putInitialSubscriptions(_ client: RealmClient) async {
        await putDeclaredSubscriptions(client)
        let contents = context.options.initialSubscriptions
        guard let sets = await client.subscriptions, !contents.isEmpty else { return }
        let isRepeated =
            context.options.rerunsInitialSubscriptions && !hasPutInitialSubscriptions
        guard sets.latest.version == .zero || isRepeated else { return }
        hasPutInitialSubscriptions = true
        let operations = contents.map { SubscriptionOperation.put($0) }
        guard case .failure(let error) = await Self.update(client, operations, subject) else {
            return
        }
        context.logger.error(
            "initial subscriptions cannot be committed",
            metadata: ["code": "\(error.code)", "detail": "\(error)"]
        )
        context.events.publish(
            .error(
                RealmError(.opening, code: error.code, message: error.description, isFatal: false)
            )
        )
    }
}
