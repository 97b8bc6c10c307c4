import Changesets

/// A server's error as handled by the client, from either of the two messages.
package struct ServerProblem: Hashable, Sendable {
    package let code: Int
    package let status: SyncStatus
    package let message: String
    /// Nil in a plain ERROR, which names no action.
    package let action: ServerAction?
    package let tryAgain: Bool
    package let logURL: String
    package let backoff: JSONErrorBody.Backoff?
    package let details: JSONErrorBody.Details?

    package init(_ report: PlainErrorReport) {
        self.init(
            code: report.code,
            message: report.message.description,
            action: nil,
            tryAgain: report.tryAgain
        )
    }

    package init(_ report: JSONErrorReport) {
        self.init(
            code: report.code,
            message: report.body.message,
            action: report.body.action,
            tryAgain: report.body.tryAgain,
            logURL: report.body.logURL,
            backoff: report.body.backoff,
            details: report.body.details
        )
    }

    private init(
        code: Int,
        message: String,
        action: ServerAction?,
        tryAgain: Bool,
        logURL: String = "",
        backoff: JSONErrorBody.Backoff? = nil,
        details: JSONErrorBody.Details? = nil
    ) {
        let known = SyncErrorCode(rawValue: code)
        self.code = code
        self.status = known?.status ?? .unknownError
        self.message =
            known == nil ? "Unknown sync protocol error code \(code): \(message)" : message
        self.action = action
        self.tryAgain = tryAgain
        self.logURL = logURL
        self.backoff = backoff
        self.details = details
    }

    /// The two errors that leave the session bound.
    var endsBinding: Bool {
        switch SyncErrorCode(rawValue: code) {
        case .compensatingWrite, .schemaVersionChanged: false
        default: true
        }
    }
}
