package import Changesets

/// The reason why a set of subscriptions is refused, as a whole (flexible sync, 5.3).
///
/// All of them are code 226: of a QUERY_ERROR for a QUERY, of the session's error for an IDENT (wire
/// protocol, 6.6 and 12.5).
package enum SubscriptionSetError: Error, Hashable, Sendable {
    /// The body is not a JSON object of strings, at the byte offset.
    case malformed(offset: Int, expected: String)
    case bodyTooLong(bytes: Int, limit: Int)
    case tooManyClasses(limit: Int)
    case tooManyQueries(className: Text, limit: Int)
    case duplicateClass(Text)
    /// The joined query of a class.
    case query(className: Text, QueryError)
}

extension SubscriptionSetError: CustomStringConvertible {
    /// The text of the protocol's error; at most 1 KiB, however long the names are.
    package var description: String {
        let text = "Invalid query: \(reason)"
        guard text.utf8.count > Self.longestText else { return text }
        // Cut between characters, and keep the beginning, which names the class and the column.
        var size = 0
        return text.prefix { character in
            size += character.utf8.count
            return size <= Self.longestText - 3
        } + "..."
    }

    private static let longestText = 1024

    private var reason: String {
        switch self {
        case .malformed(let offset, let expected):
            "the body is not a JSON object of strings: \(expected) is missing at byte \(offset)"
        case .bodyTooLong(let bytes, let limit):
            "the subscriptions have \(bytes) bytes, more than \(limit); use fewer, or shorter ones"
        case .tooManyClasses(let limit):
            "the subscriptions name more than \(limit) classes; use fewer"
        case .tooManyQueries(let className, let limit):
            "table \"\(Self.short(className))\" has more than \(limit) subscriptions; use fewer"
        case .duplicateClass(let className):
            "table \"\(Self.short(className))\" occurs twice; join its queries by OR"
        case .query(let className, let error):
            "invalid RQL for table \"\(Self.short(className))\": \(error)"
        }
    }

    /// A class has at most 57 bytes; an unknown one can have any length.
    private static func short(_ name: Text) -> String {
        name.bytes.count > 64
            ? String(decoding: name.bytes.prefix(64), as: UTF8.self) + "..."
            : name.description
    }
}
