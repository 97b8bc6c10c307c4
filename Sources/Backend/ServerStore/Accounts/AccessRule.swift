import Changesets
package import JSON
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
        case userType
        /// A member of the user's profile data.
        case userData([String])
        /// A member of the user's custom data.
        case customData([String])

        init?(_ word: String) {
            switch word.lowercased() {
            case "partition": self = .partition
            case "user.id": self = .userID
            case "user.type": self = .userType
            default:
                let parts = word.split(separator: ".", omittingEmptySubsequences: false)
                guard parts.count > 2, parts[0] == "user", !parts.contains(where: \.isEmpty) else {
                    return nil
                }
                let path = parts.dropFirst(2).map(String.init)
                switch parts[1] {
                case "data": self = .userData(path)
                case "custom_data": self = .customData(path)
                default: return nil
                }
            }
        }
    }

    package init(_ text: String) throws(QueryError) {
        self.text = text
        self.condition = try RuleCondition(
            text,
            known: "partition, user.id, user.type, user.data.NAME or user.custom_data.NAME",
            name: Name.init
        )
    }

    private init(_ text: String, _ condition: RuleCondition<Name>) {
        self.text = text
        self.condition = condition
    }

    /// Admits no user.
    package static let none = AccessRule("false", .never)

    /// Whether the rule names custom user data, which the caller must then read.
    package var needsCustomData: Bool {
        condition.names.contains { if case .customData = $0 { true } else { false } }
    }

    /// Whether the rule lets a user read or write a partition.
    ///
    /// - Parameter customData: the user's own object, without type tags; nil if there is none.
    package func admits(
        _ user: User,
        to partition: Partition,
        customData: JSONValue? = nil
    ) -> Bool {
        condition.holds { Self.value(of: $0, user, partition, customData) }
    }

    private static func value(
        of name: Name,
        _ user: User,
        _ partition: Partition,
        _ customData: JSONValue?
    ) -> JSONValue? {
        switch name {
        case .partition: partition.value
        case .userID: .string(user.id.rawValue)
        case .userType: .string(user.kind.rawValue)
        case .customData(let path):
            customData?[path.map { $0[...] }].flatMap { $0 == .null ? nil : $0 }
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
