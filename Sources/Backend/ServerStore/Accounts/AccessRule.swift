import Changesets
import JSON
package import Query
package import Scopes

/// A rule for reading or writing a partition: a condition over the partition and the user
/// (interfaces, 8).
///
/// `RuleCondition` has its grammar, and its rule for members that the user does not have.
package struct AccessRule: Hashable, Sendable {
    /// The source text.
    package let text: String
    private let condition: RuleCondition<Name>

    private enum Name: Hashable {
        case partition
        case userID
        /// A member of the user's profile data.
        case userData([String])

        init?(_ word: String) {
            switch word.lowercased() {
            case "partition": self = .partition
            case "user.id": self = .userID
            default:
                let parts = word.split(separator: ".", omittingEmptySubsequences: false)
                guard parts.count > 2, parts[0] == "user", parts[1] == "data",
                    !parts.contains(where: \.isEmpty)
                else { return nil }
                self = .userData(parts.dropFirst(2).map(String.init))
            }
        }
    }

    package init(_ text: String) throws(QueryError) {
        self.text = text
        self.condition = try RuleCondition(
            text,
            known: "partition, user.id or user.data.NAME",
            name: Name.init
        )
    }

    /// Whether the rule lets a user read or write a partition.
    package func admits(_ user: User, to partition: Partition) -> Bool {
        condition.holds { Self.value(of: $0, user, partition) }
    }

    private static func value(
        of name: Name,
        _ user: User,
        _ partition: Partition
    ) -> JSONValue? {
        switch name {
        case .partition: partition.value
        case .userID: .string(user.id.rawValue)
        case .userData(let path):
            JSONValue.object(user.profileData)[path.map { $0[...] }].flatMap {
                $0 == .null ? nil : $0
            }
        }
    }
}

extension Partition {
    /// The value for comparison: ObjectIds and UUIDs as their text.
    fileprivate var value: JSONValue {
        switch self {
        case .null: .null
        case .string(let text): .string(text.description)
        case .int(let value): .integer(value)
        case .objectID(let value): .string("\(value)")
        case .uuid(let value): .string("\(value)")
        }
    }
}

/// The rules for reading and writing the partitions of an app; without a rule all users may.
package struct AccessRules: Hashable, Sendable {
    package var read: AccessRule?
    package var write: AccessRule?

    package init(read: AccessRule? = nil, write: AccessRule? = nil) {
        self.read = read
        self.write = write
    }
}
