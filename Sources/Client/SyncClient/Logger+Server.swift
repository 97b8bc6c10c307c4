import Logging
import SyncProtocol

extension Logger {
    /// A line that the server wrote for our log, with the level it has there.
    func log(_ body: LogMessageBody) {
        var fields: Logger.Metadata = ["text": "\(body.message ?? "")"]
        if let id = body.connectionID { fields["server_connection"] = "\(id)" }
        log(level: body.level?.ofLogger ?? .debug, "server", metadata: fields)
    }
}

extension LogMessageBody.Level {
    /// What a server finds fatal or worth telling is not so for this machine: a warning at most, and
    /// what it says in good health only in detail.
    fileprivate var ofLogger: Logger.Level {
        switch self {
        case .fatal, .error, .warn: .warning
        case .info, .detail: .info
        case .debug: .debug
        case .trace: .trace
        }
    }
}
