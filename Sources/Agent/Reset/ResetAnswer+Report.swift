import Changesets
import ClientReset
import Control
import LocalRealm

extension ResetAnswer {
    init(
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

    /// The realm would be kept as a copy in that directory, and begun anew.
    init(startOverOf realm: String, wouldKeepCopyIn directory: String) {
        self.init(realm: realm, outcome: .wouldStartOver, didRecover: false)
        keptPath = directory
    }

    /// The realm is kept as a copy, and begun anew.
    init(_ realm: String, copyPath: String) {
        self.init(realm: realm, outcome: .startedOver, didRecover: false)
        keptPath = copyPath
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
    /// For people: as the object's row shows it, as an SQL literal.
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

    static func unknownResetToken(_ realm: String) -> ControlError {
        ControlError(
            code: "reset.unknown_token",
            message: "\(realm) waits for no start from nothing with this token",
            remedy: "the newest token is in the last \"reset\" event of the realm; "
                + "or use --mode manual"
        )
    }

    static func resetImpossible(_ realm: String, _ reason: String) -> ControlError {
        ControlError(
            code: "reset.impossible",
            message: "\(realm) was not reset: \(reason)",
            remedy: "try again when the realm is open; see docs/client-resets.md"
        )
    }
}
