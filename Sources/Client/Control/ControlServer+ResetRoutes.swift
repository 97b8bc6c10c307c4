import Hummingbird

/// Requests that bring a realm back (client reset, 14).
extension ControlServer {
    func addResetRoutes(to router: Router<ControlContext>) {
        let backend = backend
        router.post("v1/realms/:realm/reset") { request, context in
            let name = try context.parameters.require("realm")
            let reset = try await request.decoded(as: ResetRequest.self)
            return try Response.json(try await backend.reset(realm: name, reset))
        }
        router.post("v1/realms/:realm/restart") { _, context in
            let name = try context.parameters.require("realm")
            try await backend.restart(realm: name)
            return try Response.json(EmptyResponse(realm: name))
        }
    }
}
