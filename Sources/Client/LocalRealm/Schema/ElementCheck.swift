internal import Changesets
internal import Schemas

/// The checks of triggers on the elements of a JSON column: of lists, sets and dictionaries of
/// scalars and links, and of the first level of an embedded object (local realm, 2, "Checks").
///
/// Deeper levels are checked by the drain.
struct ElementCheck {
    /// The conditions that no row of `json_each` may meet, and the message if one does.
    private let refusals: [(condition: String, message: String)]

    /// Nil if every element is right.
    ///
    /// - Parameter isFormer: whether to write the text of earlier versions.
    init?(
        _ type: ColumnType,
        acceptsNull: Bool,
        subject: String,
        _ schema: RealmSchema,
        isFormer: Bool = false
    ) {
        var refusals: [(condition: String, message: String)] = []
        switch type {
        case .scalar, .link, .mixed:
            break
        case .embedded(let className):
            guard let owner = schema[className] else { return nil }
            let condition = Self.misfit(owner, schema)
            refusals.append((condition, "\(subject) does not fit class \(className)"))
        case .list(let element):
            refusals += Self.elements(element, acceptsNull, subject)
        case .set(.mixed):
            // An object counts as a value if its first member is a tag.
            let condition = "type = 'array' OR type = 'object' AND value NOT GLOB '{\"$*'"
            refusals.append((condition, "\(subject) must not hold collections"))
        case .set(let element):
            refusals += Self.elements(element, acceptsNull, subject)
        case .dictionary(let element):
            refusals.append(
                (
                    isFormer ? Self.formerIllegalKey : Self.illegalKey,
                    "\(subject) has a key with \".\" or leading \"$\""
                )
            )
            refusals += Self.elements(element, acceptsNull, subject)
        }
        if refusals.isEmpty { return nil }
        self.refusals = refusals
    }

    /// A statement of a trigger; it scans the elements once, and not at all if there are none.
    func statement(on value: String) -> String {
        var message = raise(refusals[refusals.count - 1].message)
        for refusal in refusals.dropLast().reversed() {
            message =
                "CASE WHEN \(refusal.condition) THEN \(raise(refusal.message)) ELSE \(message) END"
        }
        let conditions = refusals.map(\.condition).joined(separator: " OR ")
        return """

              SELECT \(message)
                FROM json_each(\(value)) WHERE \(value) NOT IN ('[]', '{}') AND (\(conditions));
            """
    }

    private func raise(_ message: String) -> String {
        "RAISE(ABORT, \(SQLText.string(message)))"
    }
}

// MARK: Conditions

extension ElementCheck {
    /// Keys that no JSON string can hold have an escaped form, with a prefix.
    ///
    /// One test lets most keys pass: SQLite copies a key each time that it is named.
    private static let illegalKey = "(key GLOB '*[.$]*' AND \(formerIllegalKey))"

    private static let formerIllegalKey = """
        (instr(key, '.') OR substr(key, 1, 1) = '$' AND key NOT GLOB '$string:*')
        """

    private static func elements(
        _ element: ElementType,
        _ acceptsNull: Bool,
        _ subject: String
    ) -> [(condition: String, message: String)] {
        guard let form = JSONElementForm(element) else { return [] }
        return [(form.mismatch(acceptsNull: acceptsNull), "\(subject) must hold \(form.plural)")]
    }

    private static func misfit(_ owner: ClassSchema, _ schema: RealmSchema) -> String {
        let cases = owner.properties.map { property in
            "WHEN \(SQLText.string("\(property.name)")) THEN \(misfit(property, schema))"
        }
        return cases.isEmpty ? "1" : "CASE key \(cases.joined(separator: " ")) ELSE 1 END"
    }

    private static func misfit(_ property: PropertySchema, _ schema: RealmSchema) -> String {
        switch property.collection {
        case .list, .set: return "type NOT IN ('array', 'null')"
        case .dictionary: return "type NOT IN ('object', 'null')"
        case .single:
            let form = schema.elementType(of: property).flatMap(JSONElementForm.init)
            return form?.mismatch(acceptsNull: property.acceptsNull) ?? "0"
        }
    }
}

/// The form of a value in `json_each`, by type.
private struct JSONElementForm {
    let plural: String
    /// Its `type`, and for some a condition that is true if the `value` is still wrong.
    let cases: [(type: String, mismatch: String?)]

    /// Nil if any value is allowed.
    init?(_ element: ElementType) {
        switch element {
        case .mixed: return nil
        case .embedded(let className):
            plural = "objects of class \(className)"
            cases = [("object", nil)]
        case .scalar(let type):
            plural = Self.plural(type)
            cases = Self.cases(type)
        case .link(let target):
            plural = "the \(target.keyName) of objects of \(target.className)"
            let tags = ["$link"] + (target.key.type == .string ? ["$string"] : [])
            cases = [Self.keyCase(target.key.type), ("object", Self.lacks(tags))]
        }
    }

    func mismatch(acceptsNull: Bool) -> String {
        let cases = cases + (acceptsNull ? [("null", nil)] : [])
        if cases.allSatisfy({ $0.mismatch == nil }) {
            let types = cases.map { "'\($0.type)'" }
            return types.count == 1
                ? "type <> \(types[0])" : "type NOT IN (\(types.joined(separator: ", ")))"
        }
        let branches = cases.map { "WHEN '\($0.type)' THEN \($0.mismatch ?? "0")" }
        return "CASE type \(branches.joined(separator: " ")) ELSE 1 END"
    }

    private static func plural(_ type: ScalarType) -> String {
        switch type {
        case .int: "integers"
        case .bool: "booleans"
        case .string: "strings"
        case .binary: "base64 strings"
        case .timestamp: "timestamps"
        case .float, .double: "numbers"
        case .decimal: "decimal numbers as strings"
        case .objectID: "ObjectIds"
        case .uuid: "UUIDs"
        }
    }

    private static func cases(_ type: ScalarType) -> [(type: String, mismatch: String?)] {
        switch type {
        case .int: [("integer", nil)]
        case .bool: [("true", nil), ("false", nil)]
        case .string: [("text", nil), ("object", lacks(["$string"]))]
        case .binary: [("text", nil)]
        case .timestamp, .decimal, .objectID, .uuid:
            [("text", ColumnCheck(type).map { "NOT (\($0.condition("value")))" })]
        case .double:
            [("real", nil), ("integer", nil), ("object", lacks(["$numberDouble"]))]
        case .float: [("real", nil), ("integer", nil), ("object", lacks(["$numberFloat"]))]
        }
    }

    private static func keyCase(_ type: PrimaryKeyType) -> (type: String, mismatch: String?) {
        switch type {
        case .int: ("integer", nil)
        case .string, .globalKey: ("text", nil)
        case .objectID, .uuid: ("text", ColumnCheck(type).map { "NOT (\($0.condition("value")))" })
        }
    }

    /// True for an object that has none of the members of Extended JSON.
    private static func lacks(_ tags: [String]) -> String {
        tags.map { "json_type(value, '$.\"\($0)\"') IS NULL" }.joined(separator: " AND ")
    }
}
