import Hummingbird

/// Routes of users' API keys.
extension ControlServer {
    func addUserKeys(to router: Router<ControlContext>) {
        let backend = backend
        @Sendable func answer(
            _ context: ControlContext,
            _ request: UserKeyRequest
        ) async throws -> Response {
            let user = try context.parameters.require("user")
            return try Response.json(try await backend.apiKeys(of: user, request))
        }
        @Sendable func id(_ context: ControlContext) throws -> String {
            try context.parameters.require("id")
        }
        router.get("v1/users/:user/api-keys") { _, context in
            try await answer(context, .list)
        }
        router.post("v1/users/:user/api-keys") { request, context in
            let name = try await request.decoded(as: UserKeyName.self).name
            return try await answer(context, .create(name: name))
        }
        router.post("v1/users/:user/api-keys/:id/enable") { _, context in
            try await answer(context, .enable(id: id(context)))
        }
        router.post("v1/users/:user/api-keys/:id/disable") { _, context in
            try await answer(context, .disable(id: id(context)))
        }
        router.delete("v1/users/:user/api-keys/:id") { _, context in
            try await answer(context, .delete(id: id(context)))
        }
    }
}
