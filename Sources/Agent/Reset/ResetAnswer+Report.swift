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
        unsynced = report.unsynced.map { object in
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

    /// The realm is kept as a copy, and begun anew.
    init(_ realm: String, copyPath: String) {
        self.init(realm: realm, outcome: .startedOver, didRecover: false)
        keptPath = copyPath
    }
}

extension ObjectKey {
    /// For people.
    var text: String {
        switch self {
        case .null: "NULL"
        case .int(let value): "\(value)"
        case .string(let value): "'\(value)'"
        case .objectID(let value): "'\(value)'"
        case .uuid(let value): "'\(value)'"
        case .globalKey(let value): "\(value.high):\(value.low)"
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
