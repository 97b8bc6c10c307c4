import Changesets
package import Control
import RealmSync
import Scheduling
import Subscriptions
import SyncProtocol
import Versions

/// Operations of the control API on the subscriptions of a realm.
extension AgentService {
    /// The time for which an operation waits for a realm that is being opened.
    static let startOfRealm = Duration.seconds(10)

    package func subscriptions(
        of realm: String
    ) async throws(ControlError) -> SubscriptionsReport {
        let synced = try await self.realm(realm).realm
        guard await synced.mode == .flexible else {
            throw ControlError(SubscriptionError(.notFlexible, "realm \(realm)"))
        }
        await synced.waitWhileStarting(atMost: Self.startOfRealm)
        guard let status = await synced.subscriptions() else { throw .notOpen(realm) }
        return SubscriptionsReport(realm, status)
    }

    package func changeSubscriptions(
        of realm: String,
        _ request: SubscriptionsRequest
    ) async throws(ControlError) -> SubscriptionsChange {
        let synced = try await self.realm(realm).realm
        let timeout = request.timeoutInSeconds.map { Duration.seconds($0) }
        let isWaiting = request.wait ?? false
        await synced.waitWhileStarting(atMost: (isWaiting ? timeout : nil) ?? Self.startOfRealm)
        let known = await synced.subscriptions()?.latest.subscriptions ?? []
        var operations: [SubscriptionOperation] = []
        for operation in request.operations {
            operations += try operation.operations(over: known)
        }
        let commit: SubscriptionCommit
        do throws(SubscriptionError) {
            commit = try await synced.updateSubscriptions(
                operations,
                isForced: request.force ?? false
            )
        } catch {
            throw ControlError(error)
        }
        guard isWaiting else {
            let outcome: SubscriptionsChange.Outcome = commit.isNew ? .committed : .unchanged
            return SubscriptionsChange(realm, commit, outcome)
        }
        let result = await synced.waitForSubscriptions(
            commit.set.version,
            timeout: timeout
        )
        switch result {
        case .complete: return SubscriptionsChange(realm, commit, .complete)
        case .failed(let text, let rejected):
            return SubscriptionsChange(realm, commit, .rejected, text, rejected)
        case .superseded: return SubscriptionsChange(realm, commit, .superseded)
        case .unknown:
            return SubscriptionsChange(realm, commit, .ended, "the set does not exist any more")
        case .ended(let end):
            let outcome: SubscriptionsChange.Outcome =
                end.outcome == .timedOut ? .timedOut : .ended
            return SubscriptionsChange(realm, commit, outcome, end.detail)
        }
    }
}

// MARK: Reports

extension SubscriptionsReport {
    init(_ realm: String, _ status: SubscriptionStatus) {
        let isPending = status.latest.version != status.active.version
        var estimate: Double?
        if case .bootstrap(let share) = status.wait { estimate = share }
        self.init(
            realm: realm,
            active: SubscriptionSetReport(status.active),
            pending: isPending ? SubscriptionSetReport(status.latest) : nil,
            waitingFor: status.wait?.word,
            estimate: estimate
        )
    }
}

extension SubscriptionStatus.Wait {
    var word: String {
        switch self {
        case .connection: "connection"
        case .uploads: "uploads"
        case .bootstrap: "bootstrap"
        }
    }
}

extension SubscriptionSetState {
    var word: String {
        switch self {
        case .pending: "pending"
        case .bootstrapping: "bootstrapping"
        case .awaitingMark: "awaiting-mark"
        case .complete: "complete"
        case .failed: "error"
        }
    }

    var error: String? {
        if case .failed(let text) = self { text } else { nil }
    }
}

extension SubscriptionSetReport {
    fileprivate init(_ set: SubscriptionSet) {
        let rejected = Set(set.rejected.map(\.id))
        self.init(
            version: set.version.reported,
            state: set.state.word,
            error: set.state.error,
            subscriptions: set.subscriptions.map { subscription in
                let isDeclared = DeclaredSubscriptions.isDeclared(subscription)
                let name =
                    isDeclared
                    ? DeclaredSubscriptions.declaredName(of: subscription) : subscription.name
                return SubscriptionReport(
                    id: subscription.id.description,
                    name: name?.description,
                    className: subscription.className.description,
                    query: subscription.query.description,
                    declared: isDeclared,
                    rejected: rejected.contains(subscription.id),
                    createdAt: Self.time(subscription.createdAt),
                    updatedAt: Self.time(subscription.updatedAt)
                )
            }
        )
    }

    private static func time(_ milliseconds: Int64) -> String {
        WallTime(millisecondsSince1970: milliseconds).description
    }
}

extension SubscriptionsChange {
    fileprivate init(
        _ realm: String,
        _ commit: SubscriptionCommit,
        _ outcome: Outcome,
        _ detail: String? = nil,
        _ rejected: [Subscription] = []
    ) {
        self.init(
            realm: realm,
            version: commit.set.version.reported,
            outcome: outcome,
            detail: detail,
            rejected: rejected.map(\.shown),
            counts: commit.counts
        )
    }
}

extension SubscriptionPayload {
    init(_ change: SubscriptionChange) {
        self.init(
            version: change.version.reported,
            state: change.state?.word ?? "superseded",
            message: change.state?.error,
            rejected: change.rejected.isEmpty ? nil : change.rejected.map(\.shown)
        )
    }
}

extension QueryVersion {
    var reported: Int64 { Int64(clamping: rawValue) }
}

extension Subscription {
    /// The subscription by its name in the configuration, or by its own, or by class and query.
    fileprivate var shown: String {
        guard DeclaredSubscriptions.isDeclared(self) else { return description }
        if let name = DeclaredSubscriptions.declaredName(of: self) {
            return "declared subscription \"\(name)\""
        }
        return SubscriptionContent(className: className, query: query).description
    }
}

// MARK: Requests

extension SubscriptionsRequest.Operation {
    /// The operations on the set. What the configuration declares only the configuration changes.
    fileprivate func operations(
        over known: [Subscription]
    ) throws(ControlError) -> [SubscriptionOperation] {
        if let name, DeclaredSubscriptions.isReserved(Text(name)) {
            throw .malformed(
                "names that begin with \"\(DeclaredSubscriptions.prefix)\" are reserved"
            )
        }
        switch op {
        case .add: return [.add(try content())]
        case .put: return [.put(try content())]
        case .update:
            guard let query else { throw .malformed("update needs a query") }
            let found = try matches(known)
            guard found.count <= 1 else {
                throw .malformed("update needs one subscription: give its name or id")
            }
            if let id = found.first?.id { return [.update(.id(id), query: Text(query))] }
            return [.update(try selector(), query: Text(query))]
        case .remove:
            if all ?? false {
                // Without those that are declared.
                return known.filter { !DeclaredSubscriptions.isDeclared($0) }
                    .map { .remove(.id($0.id)) }
            }
            if unnamed ?? false { return [.remove(.unnamed)] }
            let found = try matches(known)
            guard !found.isEmpty else { return [.remove(try selector())] }
            return found.map { .remove(.id($0.id)) }
        }
    }

    private func content() throws(ControlError) -> SubscriptionContent {
        guard let className else { throw .malformed("\(op.rawValue) needs a class") }
        return SubscriptionContent(
            name: name.map { Text($0) },
            className: Text(className),
            query: query.map { Text($0) } ?? SubscriptionContent.everything
        )
    }

    /// The subscriptions that the operation concerns.
    private func matches(_ known: [Subscription]) throws(ControlError) -> [Subscription] {
        let selector = try selector()
        let found = known.filter { subscription in
            switch selector {
            case .id(let id): subscription.id == id
            case .name(let name): subscription.name == name
            case .query(let className, let query):
                subscription.className == className && subscription.query == query
            case .className(let className): subscription.className == className
            case .unnamed, .all: false
            }
        }
        let free = found.filter { !DeclaredSubscriptions.isDeclared($0) }
        // A declared one that is meant by its name or alone is a mistake, and not to be left out silently.
        let isDeclared = name.map { name in
            known.contains { DeclaredSubscriptions.declaredName(of: $0) == Text(name) }
        }
        guard free.isEmpty, !found.isEmpty || isDeclared == true else { return free }
        throw ControlError(
            code: "subscription.declared",
            message: "the subscription is declared in the configuration",
            remedy: "change it there, then run `realm-agent reload`"
        )
    }

    private func selector() throws(ControlError) -> SubscriptionSelector {
        if let id {
            guard let id = ObjectID(id) else {
                throw .malformed("\(id) is not a subscription's id")
            }
            return .id(id)
        }
        if let name { return .name(Text(name)) }
        if let className, op == .remove, let query {
            return .query(className: Text(className), query: Text(query))
        }
        if let className { return .className(Text(className)) }
        throw .malformed("\(op.rawValue) needs a name, an id or a class")
    }
}

extension ControlError {
    init(_ error: SubscriptionError) {
        self.init(code: error.code, message: error.message, remedy: error.remedy)
    }
}

extension SubscriptionError {
    /// The description without remedy and code.
    fileprivate var message: String {
        switch kind {
        case .nameTaken: "\(subscription) exists already"
        case .notFound: "\(subscription) not found"
        case .invalidQuery, .file: "\(subscription): \(detail ?? code)"
        case .notFlexible: "\(subscription) has no subscriptions"
        case .notOpen: "\(subscription) is not open"
        }
    }
}
