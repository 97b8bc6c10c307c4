import Hummingbird

/// Routes of users' API keys.
extension ControlServer {
    func addUserKeys(to router: Router<ControlContext>) {
        let backend = backend
        router.get("v1/users/:user/api-keys") { _, context in
            let user = try context.parameters.require("user")
            return try Response.json(try await backend.apiKeys(of: user, .list))
        }
        router.post("v1/users/:user/api-keys") { request, context in
            let name = try await request.decoded(as: UserKeyName.self).name
            let user = try context.parameters.require("user")
            return try Response.json(try await backend.apiKeys(of: user, .create(name: name)))
        }
        router.post("v1/users/:user/api-keys/:id/enable") { _, context in
            let (user, id) = (
                try context.parameters.require("user"), try context.parameters.require("id")
            )
            return try Response.json(try await backend.apiKeys(of: user, .enable(id: id)))
        }
        router.post("v1/users/:user/api-keys/:id/disable") { _, context in
            let (user, id) = (
                try context.parameters.require("user"), try context.parameters.require("id")
            )
            return try Response.json(try await backend.apiKeys(of: user, .disable(id: id)))
        }
        router.delete("v1/users/:user/api-keys/:id") { _, context in
            let (user, id) = (
                try context.parameters.require("user"), try context.parameters.require("id")
            )
            return try Response.json(try await backend.apiKeys(of: user, .delete(id: id)))
        }
    }
}
