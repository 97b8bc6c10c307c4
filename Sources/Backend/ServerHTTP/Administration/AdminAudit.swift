import FoundationEssentials
import JSON
import Logging
import ServerAccounts

/// Logs every call that changes state: caller, call, confirmation and outcome (app services, 12.3).
struct AdminAudit: Sendable {
    let logger: Logger

    /// Logged members of bodies, which identify the subject of a call. Passwords and whole
    /// configurations are not among them.
    private static let members = [
        "client", "email", "id", "name", "partition", "read", "state", "user", "write",
    ]
    private static let maximumTextLength = 256

    func record(_ request: ClientAPIRequest, by caller: AdminCaller?, _ answer: ClientAPIResponse) {
        var fields: Logger.Metadata = [
            "method": "\(request.method)", "path": "\(request.path)", "status": "\(answer.status)",
            "outcome": answer.status < 300 ? "done" : answer.status < 500 ? "refused" : "failed",
        ]
        if let caller {
            fields["uid"] = "\(caller.user)"
            fields["pid"] = "\(caller.process)"
            fields["login_uid"] = caller.login.map { "\($0)" }
        }
        fields["confirm"] = request.item("confirm").map { "\(Self.shortened($0))" }
        let body = try? JSONDecoder().decode([String: JSONValue].self, from: Data(request.body))
        for name in Self.members {
            guard let text = body?[name]?.text else { continue }
            fields["body_\(name)"] = "\(Self.shortened(text))"
        }
        logger.notice("administration", metadata: fields)
    }

    private static func shortened(_ text: String) -> String {
        String(text.prefix(maximumTextLength))
    }
}
