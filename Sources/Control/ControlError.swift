/// An answer that is no success: `{"error":{"code":…,"message":…,"remedy":…}}` (interfaces, 6).
package struct ControlError: Error, Codable, Sendable, Equatable {
    /// Words with dots, such as `realm.unknown`.
    package let code: String
    package let message: String
    package let remedy: String?

    package init(code: String, message: String, remedy: String? = nil) {
        self.code = code
        self.message = message
        self.remedy = remedy
    }

    /// How the error stands in an answer's body.
    struct Body: Codable {
        let error: ControlError
    }

    package static func unknownRealm(_ name: String) -> ControlError {
        ControlError(
            code: "realm.unknown",
            message: "there is no realm \"\(name)\" in the configuration",
            remedy: "`realm-agent status` lists the realms"
        )
    }

    /// Nobody listens on the socket.
    package static func noAgent(socket: String) -> ControlError {
        ControlError(
            code: "agent.not_running",
            message: "no agent answers on \(socket)",
            remedy: "start it with `systemctl start realm-agent`, or `realm-agent run`"
        )
    }

    /// The HTTP status that goes with the code.
    var status: Int {
        switch code {
        case "realm.unknown", "request.unknown": 404
        case "request.malformed": 400
        case "agent.stopping": 503
        default: 500
        }
    }
}

extension ControlError: CustomStringConvertible {
    package var description: String {
        "\(message)\(remedy.map { "; \($0)" } ?? "") [\(code)]"
    }
}
