internal import Changesets
internal import Schemas

/// A test of a column's value in SQL, and the requirement in words.
struct ColumnCheck: Sendable {
    /// Follows the name of the property: "must be a timestamp".
    let demand: String
    /// The test, given the quoted column.
    let condition: @Sendable (_ column: String) -> String

    /// Nil if the storage class is enough. The content of JSON is for `ElementCheck`.
    init?(_ type: ColumnType) {
        switch type {
        case .scalar(let type): self.init(type)
        case .link(let target): self.init(linkTo: target)
        case .mixed: self = .extendedJSON
        case .embedded, .dictionary: self = .jsonObject
        case .list, .set: self = .jsonArray
        }
    }

    /// Nil if the storage class is enough.
    init?(_ type: ScalarType) {
        switch type {
        case .int, .string, .binary: return nil
        case .bool: self = .bool
        case .timestamp: self = .timestamp
        case .double: self = .number(bitsInHexadecimal: 16)
        case .float: self = .number(bitsInHexadecimal: 8)
        case .decimal: self = .decimal
        case .objectID: self = .objectID
        case .uuid: self = .uuid
        }
    }

    /// Of a key.
    init?(_ type: PrimaryKeyType) {
        switch type {
        case .int, .string, .globalKey: return nil
        case .objectID: self = .objectID
        case .uuid: self = .uuid
        }
    }

    init?(linkTo target: LinkTarget) {
        let article = "AEIOUaeiou".contains { "\(target.className)".first == $0 } ? "an" : "a"
        let demand = "must be the \(target.keyName) of \(article) \(target.className)"
        let form = ColumnCheck(target.key.type)
        guard target.key.isNullable else {
            guard let form else { return nil }
            self.init(demand: demand, condition: form.condition)
            return
        }
        let storageClass = target.key.type == .int ? "integer" : "text"
        self.init(demand: demand) { column in
            let test = form.map { " AND \($0.condition(column))" } ?? ""
            return "\(column) = x'' OR typeof(\(column)) = '\(storageClass)'\(test)"
        }
    }

    private init(demand: String, condition: @escaping @Sendable (String) -> String) {
        self.demand = demand
        self.condition = condition
    }
}

extension ColumnCheck {
    private static let extendedJSON = ColumnCheck(demand: "must be Extended JSON") {
        "json_valid(\($0))"
    }

    private static let jsonArray = ColumnCheck(demand: "must be a JSON array") {
        "json_valid(\($0)) AND json_type(\($0)) = 'array'"
    }

    private static let jsonObject = ColumnCheck(demand: "must be a JSON object") {
        "json_valid(\($0)) AND json_type(\($0)) = 'object'"
    }

    private static let bool = ColumnCheck(demand: "must be 0 or 1") { "\($0) IN (0, 1)" }

    /// The last half millisecond of the year 9999 is a special case: julianday() rounds it into the
    /// next year, which it does not support.
    private static let timestamp = ColumnCheck(demand: "must be a timestamp") {
        """
        \($0) GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*' AND julianday(\($0)) IS NOT NULL \
        OR \($0) GLOB '@[-0-9]*' AND \($0) NOT GLOB '@*[^-.0-9]*' \
        OR \($0) GLOB '9999-12-31T23:59:59.999[5-9][0-9][0-9][0-9][0-9][0-9]Z'
        """
    }

    /// A column of type ANY takes texts too, of which only NaN is a number: SQLite has none.
    private static func number(bitsInHexadecimal digits: Int) -> ColumnCheck {
        ColumnCheck(demand: "must be a number, or the text NaN") {
            """
            typeof(\($0)) IN ('real', 'integer') OR typeof(\($0)) = 'text' AND (\($0) = 'NaN' \
            OR length(\($0)) = \(digits + 4) AND \($0) GLOB 'NaN:*' \
            AND substr(\($0), 5) NOT GLOB '*[^0-9a-f]*')
            """
        }
    }

    private static let decimal = ColumnCheck(demand: "must be a decimal number") {
        """
        \($0) GLOB '*[0-9]*' AND \($0) NOT GLOB '*[^-+.0-9eE]*' \
        OR ltrim(lower(\($0)), '+-') IN ('nan', 'infinity', 'inf') \
        OR length(\($0)) = 33 AND \($0) GLOB '#*' AND substr(\($0), 2) NOT GLOB '*[^0-9a-f]*'
        """
    }

    private static let objectID = ColumnCheck(
        demand: "must be an ObjectId (24 lower-case hex digits)"
    ) {
        "length(CAST(\($0) AS BLOB)) = 24 AND \($0) NOT GLOB '*[^0-9a-f]*'"
    }

    private static let uuid = ColumnCheck(demand: "must be a UUID in lower case") {
        """
        length(CAST(\($0) AS BLOB)) = 36 AND \($0) GLOB '????????-????-????-????-????????????' \
        AND length(replace(\($0), '-', '')) = 32 AND replace(\($0), '-', '') NOT GLOB '*[^0-9a-f]*'
        """
    }
}

extension LinkTarget {
    /// The column that holds a link's value.
    var keyName: String { key.type == .globalKey ? "_realm_key" : "\(key.name)" }
}
