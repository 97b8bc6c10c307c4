package import JSON
import Permissions
package import Scopes
package import ServerStore

/// Decides who may read and write a partition, in place of rules (moving an app, 13, N2).
package protocol PartitionGate: Sendable {
    /// - Parameter subject: reads the user and the custom data; nil if there is no such user. Called only if
    ///   it is needed.
    /// - Throws: `AccessUndecided`, and the errors of `subject`.
    func access(
        of user: UserID,
        to partition: Partition,
        _ subject: @escaping @Sendable () async throws -> (user: User, customData: JSONValue?)?
    ) async throws -> PartitionAccess
}

/// There is no decision now: the client gets no access, keeps its file, and asks again later.
package struct AccessUndecided: Error, Hashable {
    package let reason: String

    package init(_ reason: String) {
        self.reason = reason
    }
}

extension SyncEngine {
    /// The rules that count for one user and one partition: those of the app, or what its program decides.
    ///
    /// Throws `AccessUndecided` or `StoreError`.
    func rules(
        of app: SyncApp,
        for user: UserID,
        to partition: Partition
    ) async throws -> AccessRules {
        guard let gate = app.gate else { return app.access }
        let access = try await gate.access(of: user, to: partition) { [store] in
            try await store.read { snapshot in
                guard let known = try snapshot.user(user, of: app.id) else { return nil }
                return (known, try app.ruleData?(user, snapshot)?.plain)
            }
        }
        return AccessRules(access)
    }
}
