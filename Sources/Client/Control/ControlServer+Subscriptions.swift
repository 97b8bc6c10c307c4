import Hummingbird
import NIOHTTP1

/// Requests about the subscriptions of a realm.
extension ControlServer {
    func addSubscriptionRoutes(to router: Router<ControlContext>) {
        let backend = backend
        router.get("v1/realms/:realm/subscriptions") { _, context in
            let realm = try context.parameters.require("realm")
            return try Response.json(try await backend.subscriptions(of: realm))
        }
        router.put("v1/realms/:realm/subscriptions") { request, context in
            let change = try await request.decoded(as: SubscriptionsRequest.self)
            guard SyncRequest.timeoutRange.contains(change.timeoutInSeconds ?? 0) else {
                throw ControlError.malformed("the timeout is out of range")
            }
            let realm = try context.parameters.require("realm")
            return try Response.json(try await backend.changeSubscriptions(of: realm, change))
        }
    }
}

extension ControlClient {
    package func subscriptions(
        of realm: String
    ) async throws(ControlError) -> SubscriptionsReport {
        try await call(.GET, "v1/realms/\(realm)/subscriptions", timeout: Self.callTimeout)
    }

    package func changeSubscriptions(
        of realm: String,
        _ change: SubscriptionsRequest
    ) async throws(ControlError) -> SubscriptionsChange {
        try await call(
            .PUT,
            "v1/realms/\(realm)/subscriptions",
            body: (try? JSONBody.encode(change)) ?? [],
            timeout: .seconds(365 * 86_400)
        )
    }
}
