import ClientReset
import FoundationEssentials

/// The input of a handler: an event, and the realm that it concerns.
package struct HandlerRequest: Hashable, Sendable {
    package let subject: HandlerSubject
    package let event: HandlerEvent

    package init(_ event: HandlerEvent, of subject: HandlerSubject) {
        self.subject = subject
        self.event = event
    }
}

/// The realm that an event concerns.
package struct HandlerSubject: Hashable, Sendable {
    package let realm: String
    /// The app's id at the backend.
    package let app: String
    /// The name of the user in the configuration.
    package let user: String
    /// The SQLite file.
    package var path: String

    package init(realm: String, app: String, user: String, path: String) {
        self.realm = realm
        self.app = app
        self.user = user
        self.path = path
    }
}

// MARK: As JSON

extension HandlerRequest {
    /// The document that external programs read (interfaces, 7), one line.
    package func json() -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings and numbers only: there is nothing in it that could fail to encode.
        let data = (try? encoder.encode(Document(self))) ?? Data("{}".utf8)
        return Array(data) + [UInt8(ascii: "\n")]
    }

    /// Absent rather than null, in the words of the contract.
    private struct Document: Encodable {
        let version = 1
        let kind: String
        let realm: String
        let app: String
        let user: String
        let path: String
        var error: ErrorDocument?
        var reason: String?
        var mode: String?
        var code: String?
        var did_recover: Bool?
        var before_path: String?
        var discarded: [String: Int]?
        var export_path: String?
        var original_path: String?
        var recovery_path: String?
        var token: String?
        var rejects: [RejectDocument]?
        var subscriptions: RejectedSetDocument?

        init(_ request: HandlerRequest) {
            self.kind = request.event.kind
            self.realm = request.subject.realm
            self.app = request.subject.app
            self.user = request.subject.user
            self.path = request.subject.path
            switch request.event {
            case .error(let report):
                error = ErrorDocument(report)
            case .clientResetBefore(let reason, let mode):
                self.reason = reason
                self.mode = mode.rawValue
            case .clientResetAfter(let reset):
                mode = reset.mode.rawValue
                did_recover = reset.didRecover
                before_path = reset.beforePath
                discarded = reset.discarded
                export_path = reset.exportPath
            case .clientResetManual(let reset):
                code = reset.code
                reason = reset.reason
                original_path = reset.originalPath
                recovery_path = reset.recoveryPath
                token = reset.token
            case .writeRejected(let rejects):
                self.rejects = rejects.map(RejectDocument.init)
            case .subscriptionsRejected(let set):
                subscriptions = RejectedSetDocument(set)
            }
        }
    }

    private struct ErrorDocument: Encodable {
        let code: String
        let sdk_code: Int?
        let message: String
        let fatal: Bool
        let log_url: String?

        init(_ report: SyncErrorReport) {
            self.code = report.code
            self.sdk_code = report.sdkCode
            self.message = report.message
            self.fatal = report.isFatal
            self.log_url = report.logURL
        }
    }

    private struct RejectedSetDocument: Encodable {
        let set: Int64
        let message: String
        let rejected: [SubscriptionDocument]

        init(_ summary: RejectedSubscriptionsSummary) {
            self.set = summary.version
            self.message = summary.message
            self.rejected = summary.subscriptions.map(SubscriptionDocument.init)
        }
    }

    private struct SubscriptionDocument: Encodable {
        let name: String?
        let `class`: String
        let query: String

        init(_ subscription: RejectedSubscriptionsSummary.Entry) {
            self.name = subscription.name
            self.class = subscription.className
            self.query = subscription.query
        }
    }

    private struct RejectDocument: Encodable {
        let `class`: String
        let key: String
        let reason: String

        init(_ reject: RejectedWriteSummary) {
            self.class = reject.className
            self.key = reject.key
            self.reason = reject.reason
        }
    }
}
