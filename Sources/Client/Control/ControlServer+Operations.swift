import Hummingbird

/// Routes of single realms and users.
extension ControlServer {
    func addOperations(to router: Router<ControlContext>) {
        let backend = backend
        router.post("v1/realms/:realm/wait") { request, context in
            let wait = try await request.decoded(as: WaitRequest.self)
            guard SyncRequest.timeoutRange.contains(wait.timeoutInSeconds ?? 0) else {
                throw ControlError.malformed("the time-out is out of range")
            }
            let realm = try context.parameters.require("realm")
            return try Response.json(try await backend.wait(wait, for: realm))
        }
        router.get("v1/realms/:realm/progress") { request, context in
            let realm = try context.parameters.require("realm")
            let progress = try Self.progressRequest(request)
            let reports = try await backend.progress(progress, of: realm)
            return Response.jsonLines(reports, to: request)
        }
        router.post("v1/realms/:realm/suspend") { request, context in
            let suspend = try await request.decoded(as: SuspendRequest.self)
            guard SyncRequest.timeoutRange.contains(suspend.seconds ?? 0) else {
                throw ControlError.malformed("the time is out of range")
            }
            try await backend.suspend(try context.parameters.require("realm"), suspend)
            return try Self.done()
        }
        router.post("v1/realms/:realm/resume") { _, context in
            try await backend.resume(try context.parameters.require("realm"))
            return try Self.done()
        }
        router.post("v1/reconnect") { _, _ in
            await backend.reconnect()
            return try Self.done()
        }
        router.get("v1/users") { _, _ in
            try Response.json(try await backend.users())
        }
        router.get("v1/users/:user/custom-data") { _, context in
            let user = try context.parameters.require("user")
            let data = try await backend.customData(of: user)
            return Response.text(#"{"custom_data":\#(data)}"#, type: "application/json")
        }
        router.post("v1/users/:user/:operation") { request, context in
            let word = try context.parameters.require("operation")
            guard let operation = UserOperation(rawValue: word) else {
                throw ControlError(
                    code: "request.unknown",
                    message: "there is no user operation \(word)"
                )
            }
            let body = try await request.decoded(as: UserRequest.self)
            let user = try context.parameters.require("user")
            return try Response.json(try await backend.perform(operation, on: user, body))
        }
    }

    private static func done() throws -> Response {
        try Response.json(["status": "ok"])
    }

    private static func progressRequest(_ request: Request) throws -> ProgressRequest {
        func value<Word: RawRepresentable & CaseIterable>(
            _ name: Substring,
            _ standard: Word
        ) throws -> Word where Word.RawValue == String {
            guard let text = request.uri.queryParameters[name] else { return standard }
            guard let word = Word(rawValue: String(text)) else {
                let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
                throw ControlError.malformed("\(name) is one of \(words)")
            }
            return word
        }
        return ProgressRequest(
            direction: try value("direction", .download),
            mode: try value("mode", .indefinite)
        )
    }
}

extension ControlError {
    package static func unknownUser(_ name: String) -> ControlError {
        ControlError(
            code: "auth.unknown_user",
            message: "there is no user \"\(name)\" in the configuration",
            remedy: "`realm-agent users list` lists the users"
        )
    }
}
