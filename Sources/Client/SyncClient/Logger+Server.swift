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
    /// Maps the server's level to this machine's: at most a warning; routine messages only at a
    /// detailed level.
    fileprivate var ofLogger: Logger.Level {
        switch self {
        case .fatal, .error, .warn: .warning
        case .info, .detail: .info
        case .debug: .debug
        case .trace: .trace
        }
    }
}
