import Changesets
import ClientReset
import Control
import LocalRealm
import RealmSync

extension ResetResponse {
    init(_ realm: String, _ ending: ResetByHand) {
        switch ending {
        case .done(let result):
            self.init(realm, .done, result.report, keptPath: result.keptPath)
        case .startedOver(let copyPath):
            self.init(realm: realm, outcome: .startedOver, didRecover: false)
            keptPath = copyPath
        case .rehearsed(let report, let directory, let obstacle):
            self.init(realm, .rehearsed, report, keptPath: directory)
            reason = obstacle?.description
        case .wouldStartOver(let directory):
            self.init(realm: realm, outcome: .wouldStartOver, didRecover: false)
            keptPath = directory
        }
    }

    private init(
        _ realm: String,
        _ outcome: Outcome,
        _ report: ResetReport,
        keptPath: String?
    ) {
        self.init(realm: realm, outcome: outcome, didRecover: report.didRecover)
        unsynced = report.unsynced.filter { !report.isDropped($0) }.map { object in
            Change(
                className: object.className.description,
                key: object.key,
                properties: object.properties.map(\.description),
                note: object.isDeleted ? "deleted" : nil
            )
        }
        discarded = report.discarded.map { change in
            Change(
                className: change.object.className.description,
                key: change.object.key.text,
                properties: change.property.map { [$0.description] } ?? [],
                note: change.reason.rawValue
            )
        }
        createdRows = report.createdRows
        updatedRows = report.updatedRows
        erasedRows = report.erasedRows
        self.keptPath = keptPath
    }
}

extension ResetReport {
    /// Whether nothing of the object's changes is left, because the server has deleted it.
    fileprivate func isDropped(_ object: UnsyncedObject) -> Bool {
        guard didRecover, !object.properties.isEmpty, !object.isDeleted else { return false }
        let dropped = discarded.filter { change in
            change.reason == .objectIsGone && change.object.className == object.className
                && change.object.key.text == object.key
        }
        return Set(object.properties).isSubset(of: dropped.compactMap(\.property))
    }
}

extension ObjectKey {
    /// The key as an SQL literal, for people.
    var text: String {
        switch self {
        case .null: "NULL"
        case .int(let value): "\(value)"
        case .string(let value): "'\(value.description.replacing("'", with: "''"))'"
        case .objectID(let value): "'\(value)'"
        case .uuid(let value): "'\(value)'"
        case .globalKey(let value): "'\(value.high):\(value.low)'"
        }
    }
}

extension ControlError {
    static func unknownResetMode(_ mode: String) -> ControlError {
        ControlError(
            code: "request.malformed",
            message: "there is no client reset mode \"\(mode)\"",
            remedy: "one of " + ResetMode.allCases.map(\.rawValue).joined(separator: ", ")
        )
    }

    init(_ refusal: ResetRefusal, realm: String) {
        switch refusal {
        case .failed(let failure):
            self.init(
                code: failure.code,
                message: "\(realm) was not reset: \(failure)",
                remedy: "see `man realm-client-resets`; --mode manual keeps a copy and starts over"
            )
        case .wouldFail(let failure):
            self.init(
                code: failure.code,
                message: "a reset of \(realm) would be left to you: \(failure)",
                remedy: "see `man realm-client-resets`; --mode manual keeps a copy and starts over"
            )
        case .unknownToken:
            self.init(
                code: "reset.unknown_token",
                message: "\(realm) has no pending start-over with this token",
                remedy: "the newest token is in the last \"reset\" event of the realm; "
                    + "or use --mode manual"
            )
        case .impossible(let reason):
            self.init(
                code: "reset.impossible",
                message: "\(realm) was not reset: \(reason)",
                remedy: "try again when the realm is open; see `man realm-client-resets`"
            )
        }
    }
}
