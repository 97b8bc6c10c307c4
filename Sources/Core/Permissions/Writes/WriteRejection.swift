package import Changesets

/// The reason for rejecting a write (flexible sync, 11.2). Apps look for these texts.
package enum WriteRejection: Hashable, Sendable {
    /// The object is, or was, or would be outside of the session's view.
    case outsideView
    /// No role, or a right to insert, to delete or to write a field is missing.
    case notAllowed
    case deniedByWriteFilter(role: String)

    /// The member `reason` of error 231.
    package func reason(for object: ObjectReference) -> String {
        let write = "write to \(object.key.rejectionText) in table \"\(object.className)\""
        return switch self {
        case .outsideView: "\(write) not allowed; object is outside of the current query view"
        case .notAllowed: "\(write) not allowed"
        case .deniedByWriteFilter(let role):
            "\(write) was denied by write filter in role \"\(role)\""
        }
    }
}

extension ObjectKey {
    /// `ObjectID("hex")`, `UUID(...)`, a quoted string, or an integer.
    fileprivate var rejectionText: String {
        switch self {
        case .null: "null"
        case .int(let value): "\(value)"
        case .string(let text): "\"\(text)\""
        case .objectID(let value): "ObjectID(\"\(value)\")"
        case .uuid(let value): "UUID(\"\(value)\")"
        case .globalKey(let key): "\(key)"
        }
    }
}
