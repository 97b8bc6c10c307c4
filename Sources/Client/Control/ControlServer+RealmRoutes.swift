import Hummingbird

/// Requests about one realm.
extension ControlServer {
    func addRealmRoutes(to router: Router<ControlContext>) {
        let backend = backend
        router.get("v1/realms") { _, _ in
            try Response.json(await backend.status().realms)
        }
        router.get("v1/realms/:realm") { _, context in
            let name = try context.parameters.require("realm")
            return try Response.json(try await backend.requireRealm(name))
        }
        router.post("v1/realms/:realm/sync") { request, context in
            let name = try context.parameters.require("realm")
            let sync = try await request.decoded(as: SyncRequest.self)
            guard SyncRequest.timeoutRange.contains(sync.timeoutInSeconds ?? 0) else {
                throw ControlError.malformed("the timeout is not a number of seconds")
            }
            let timeout = sync.timeoutInSeconds.map { Duration.seconds($0) }
            return try Response.json(try await backend.sync(realm: name, timeout: timeout))
        }
    }
}

extension ControlBackend {
    /// The status of a realm.
    ///
    /// - Throws: `realm.unknown` if the configuration has none of the name.
    @discardableResult
    func requireRealm(_ name: String) async throws(ControlError) -> RealmStatus {
        guard let realm = await status().realms.first(where: { $0.name == name }) else {
            throw .unknownRealm(name)
        }
        return realm
    }
}
