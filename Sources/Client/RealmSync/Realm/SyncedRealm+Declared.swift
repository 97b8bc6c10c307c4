import LocalRealm
import Logging
import Subscriptions
import SyncClient

/// The subscriptions that a configuration declares, beside those that users and programs add.
extension SyncedRealm {
    /// Follows another declaration. If the realm is open and the declaration differs, the result is one new
    /// set; there is no reset.
    package func declareSubscriptions(_ source: @escaping DeclaredSubscriptionSource) async {
        declaredSubscriptions = source
        guard let client else { return }
        await putDeclaredSubscriptions(client)
    }

    /// Makes the declared part of the latest set what is declared. Called before the session of a file
    /// begins.
    func putDeclaredSubscriptions(_ client: RealmClient) async {
        guard let declaredSubscriptions, let userID, let sets = await client.subscriptions else {
            return
        }
        let operations = DeclaredSubscriptions.operations(
            declaredSubscriptions(userID),
            over: sets.latest.subscriptions
        )
        let isRepeated =
            context.options.rerunsInitialSubscriptions && !hasPutInitialSubscriptions
        hasPutInitialSubscriptions = true
        guard !operations.isEmpty || isRepeated else { return }
        let result = await Self.update(client, operations, subject, isForced: isRepeated)
        guard case .failure(let error) = result else { return }
        context.logger.error(
            "declared subscriptions cannot be committed",
            metadata: ["code": "\(error.code)", "detail": "\(error)"]
        )
        context.events.publish(
            .error(
                RealmError(.opening, code: error.code, message: error.description, isFatal: false)
            )
        )
    }
}
