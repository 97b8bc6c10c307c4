import Hummingbird

/// The comparison of a realm with its server.
extension ControlServer {
    func addVerification(to router: Router<ControlContext>) {
        let backend = backend
        router.post("v1/realms/:realm/verify") { request, context in
            let name = try context.parameters.require("realm")
            let verify = try await request.decoded(as: VerifyRequest.self)
            guard SyncRequest.timeoutRange.contains(verify.timeoutInSeconds ?? 0) else {
                throw ControlError.malformed("the timeout is out of range")
            }
            return Response.jsonLines(try await backend.verify(name, verify), to: request)
        }
    }
}
