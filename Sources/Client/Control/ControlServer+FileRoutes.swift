import Hummingbird

/// Requests about the files of realms.
extension ControlServer {
    func addFileRoutes(to router: Router<ControlContext>) {
        let backend = backend
        router.post("v1/realms/:realm/copy") { request, context in
            let copy = try await request.decoded(as: CopyRequest.self)
            let realm = try context.parameters.require("realm")
            if copy.progress ?? false {
                return Response.jsonLines(backend.copyWithProgress(realm, copy), to: request)
            }
            return try Response.json(try await backend.copy(realm, copy))
        }
        router.post("v1/realms/:realm/delete") { request, context in
            let delete = try await request.decoded(as: DeleteRequest.self)
            let realm = try context.parameters.require("realm")
            return try Response.json(try await backend.delete(realm, delete))
        }
        router.get("v1/realms/:realm/rejects") { request, context in
            let realm = try context.parameters.require("realm")
            let limit = try request.query("limit", as: Int.self) ?? 1000
            guard (1...1000).contains(limit) else {
                throw ControlError.malformed("limit is a number from 1 to 1000")
            }
            return try Response.json(try await backend.rejects(of: realm, limit: limit))
        }
        router.post("v1/realms/:realm/rejects/:id/retry") { _, context in
            let realm = try context.parameters.require("realm")
            guard let id = Int64(try context.parameters.require("id")) else {
                throw ControlError.malformed("the id is not a number")
            }
            return try Response.json(try await backend.retryReject(id, of: realm))
        }
        router.get("v1/ready") { _, _ in
            try Response.readiness(await backend.readiness())
        }
    }
}
