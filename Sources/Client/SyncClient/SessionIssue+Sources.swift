import ClientReset
import LocalRealm
import Logging
import SyncProtocol

extension SessionIssue {
    init(_ problem: ServerProblem) {
        let isReset = ResetCause(problem) != nil
        let kind: Kind =
            switch SyncErrorCode(rawValue: problem.code) {
            case _ where isReset: .clientReset
            case .permissionDenied, .userMismatch: .permissionDenied
            case .invalidSchemaChange: .schemaConflict
            default: .serverError
            }
        self.init(
            kind: kind,
            code: problem.dottedCode,
            message: problem.message,
            sdkCode: problem.sdkCode(isFatal: !problem.tryAgain),
            logURL: problem.logURL.isEmpty ? nil : problem.logURL
        )
    }

    init(_ error: LocalRealmError) {
        self.init(kind: .localRealm, code: error.code, message: error.description)
    }

    /// A full disk or another program's lock; clears without a change.
    package var isTransient: Bool {
        kind == .localRealm && LocalRealmError.Kind(rawValue: code)?.isTransient == true
    }
}

extension ServerProblem {
    /// The code of `docs/errors.md`, the same in status, events, handlers, logs and messages.
    package var dottedCode: String { Self.dottedCode(code) }

    static func dottedCode(_ number: Int) -> String {
        "sync.\(SyncErrorCode(rawValue: number)?.name ?? "unknown_error")"
    }

    /// The issue as metadata of a log message.
    func metadata(isFatal: Bool) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "code": "\(dottedCode)", "server_code": "\(code)", "detail": "\(message)",
        ]
        if let number = sdkCode(isFatal: isFatal) { metadata["sdk_code"] = "\(number.rawValue)" }
        if !logURL.isEmpty { metadata["log_url"] = "\(logURL)" }
        return metadata
    }
}
