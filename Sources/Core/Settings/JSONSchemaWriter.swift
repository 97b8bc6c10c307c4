/// Writes a form as JSON Schema (draft 2020-12).
///
/// In YAML the reader decides whether `5` is text: where text is expected, numbers and booleans are
/// accepted too.
package struct JSONSchemaWriter {
    private let title: String

    package init(title: String) { self.title = title }

    package func text(of form: SettingForm) -> String {
        var members = members(of: form)
        members.insert(("$schema", .string("https://json-schema.org/draft/2020-12/schema")), at: 0)
        members.insert(("title", .string(title)), at: 1)
        return OrderedJSON.object(members).text() + "\n"
    }

    private func json(_ form: SettingForm) -> OrderedJSON { .object(members(of: form)) }

    private func members(of form: SettingForm) -> [(String, OrderedJSON)] {
        switch form {
        case .text: [("type", .strings(["string", "number", "boolean"]))]
        case .pattern(let pattern): [("type", .string("string")), ("pattern", .string(pattern))]
        case .boolean: [("type", .string("boolean"))]
        case .null: [("type", .string("null"))]
        case .integer(let range):
            [("type", .string("integer"))]
                + (range == Int.min...Int.max
                    ? []
                    : [
                        ("minimum", .number("\(range.lowerBound)")),
                        ("maximum", .number("\(range.upperBound)")),
                    ])
        case .number(let range):
            [
                ("type", .string("number")), ("minimum", .number("\(range.lowerBound)")),
                ("maximum", .number("\(range.upperBound)")),
            ]
        case .choice(let words): [("enum", .strings(words))]
        case .list(let element): [("type", .string("array")), ("items", json(element))]
        case .named(let element):
            // Null counts as an empty mapping.
            [("type", .strings(["object", "null"])), ("additionalProperties", json(element))]
        case .mapping(let mapping): members(of: mapping)
        case .anyOf(let forms) where forms.isEmpty: []
        case .anyOf(let forms): [("anyOf", .array(forms.map(json)))]
        }
    }

    private func members(of mapping: MappingForm) -> [(String, OrderedJSON)] {
        let required = mapping.keys.filter(\.isRequired).map(\.name)
        let acceptsNothing = required.isEmpty && mapping.oneOfKeys.isEmpty
        var members: [(String, OrderedJSON)] = [
            ("type", acceptsNothing ? .strings(["object", "null"]) : .string("object")),
            ("properties", .object(mapping.keys.map { ($0.name, json($0.form)) })),
            ("additionalProperties", .bool(false)),
        ]
        if !required.isEmpty { members.append(("required", .strings(required))) }
        if !mapping.oneOfKeys.isEmpty {
            let alternatives = mapping.oneOfKeys.map { key in
                OrderedJSON.object([("required", .strings([key]))])
            }
            members.append(("oneOf", .array(alternatives)))
        }
        let rules = mapping.dependences.flatMap(rules)
        if !rules.isEmpty { members.append(("allOf", .array(rules))) }
        return members
    }

    private func rules(of dependence: MappingForm.Dependence) -> [OrderedJSON] {
        let isChosen = OrderedJSON.object([
            ("required", .strings([dependence.other])),
            (
                "properties",
                .object([(dependence.other, .object([("enum", .strings(dependence.choices))]))])
            ),
        ])
        let isThere = OrderedJSON.object([("required", .strings([dependence.key]))])
        let goesWith = OrderedJSON.object([("if", isThere), ("then", isChosen)])
        let belongsTo = OrderedJSON.object([("if", isChosen), ("then", isThere)])
        return dependence.isRequired ? [goesWith, belongsTo] : [goesWith]
    }
}
