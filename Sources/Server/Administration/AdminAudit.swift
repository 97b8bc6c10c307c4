import FoundationEssentials
import JSON
import Logging

/// Writes down every call that changes something: who, what, with which confirmation, and what came of it
/// (app services, 12.3). The log knows when.
struct AdminAudit: Sendable {
    let logger: Logger

    /// Members of bodies that say what a call is about. Passwords and whole configurations do not.
    private static let members = [
        "client", "email", "id", "name", "partition", "read", "state", "user", "write",
    ]
    private static let maximumTextLength = 256

    func record(_ request: ServiceRequest, by caller: AdminCaller?, _ answer: ServiceAnswer) {
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
