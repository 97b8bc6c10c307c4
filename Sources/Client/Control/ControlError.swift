/// An error response: `{"error":{"code":…,"message":…,"remedy":…}}` (interfaces, 6).
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

    /// The form of the error in a response body.
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

    package static func disabledRealm(_ name: String) -> ControlError {
        ControlError(
            code: "realm.disabled",
            message: "realm \"\(name)\" is disabled in the configuration",
            remedy: "set realms.\(name).enabled to true, or leave it out"
        )
    }

    /// The request cannot be understood.
    package static func malformed(_ message: String) -> ControlError {
        ControlError(code: "request.malformed", message: message)
    }

    /// Only reading is allowed.
    static let changeForbidden = ControlError(
        code: "request.forbidden",
        message: "this user may read the agent's state, but not change it",
        remedy: "run the command as root, as the agent's user, or as a member of the group that "
            + "agent.control_group names"
    )

    /// A new configuration has mistakes, one line each; the running one stays in force.
    package static func refusedConfiguration(_ lines: [String]) -> ControlError {
        ControlError(
            code: "config.refused",
            message: lines.joined(separator: "\n"),
            remedy: "correct the new configuration; until then the agent keeps its present one"
        )
    }

    /// The agent was started without files to reload.
    package static let notReloadable = ControlError(
        code: "agent.not_reloadable",
        message: "this agent was started without a configuration file"
    )

    /// No process listens on the socket.
    package static func noAgent(socket: String) -> ControlError {
        ControlError(
            code: "agent.not_running",
            message: "no agent answers on \(socket)",
            remedy: "start it with `systemctl start realm-agent`, or `realm-agent run`"
        )
    }

    /// The socket exists, but this user may not use it.
    package static func forbidden(socket: String) -> ControlError {
        ControlError(
            code: "agent.forbidden",
            message: "this user may not use \(socket)",
            remedy: "run the command as root, or as a member of the socket's group"
        )
    }

    /// The agent accepts connections, but its response is missing or incomplete.
    package static func noAnswer(socket: String, reason: String) -> ControlError {
        ControlError(
            code: "agent.no_answer",
            message: "the agent on \(socket) does not answer: \(reason)",
            remedy: "run `journalctl -u realm-agent`"
        )
    }

    static let malformedAnswer = ControlError(
        code: "agent.malformed_answer",
        message: "the agent's answer cannot be read",
        remedy: "restart the agent, so that it is of the same version as this program"
    )

    /// The HTTP status that goes with the code.
    var status: Int {
        switch code {
        case "realm.unknown", "auth.unknown_user", "auth.unknown_key", "request.unknown": 404
        case "realm.disabled", "realm.not_open", "realm.pending_uploads", "auth.pending_uploads",
            "auth.logged_out", "auth.refused", "auth.unknown_app", "auth.key_exists",
            "auth.keys_refused", "realm.file_exists", "realm.wrong_owner":
            409
        case "request.malformed": 400
        case "config.refused": 422
        case "agent.not_reloadable": 409
        case "request.forbidden": 403
        case "agent.stopping": 503
        case _ where code.hasPrefix("reset."): 409
        default: 500
        }
    }
}

extension ControlError: CustomStringConvertible {
    package var description: String {
        "\(message)\(remedy.map { "; \($0)" } ?? "") [\(code)]"
    }
}
