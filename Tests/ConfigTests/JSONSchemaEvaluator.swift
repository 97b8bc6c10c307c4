import FoundationEssentials
import YAML

/// As much of JSON Schema as the configuration's schema uses, applied to YAML.
struct JSONSchemaEvaluator {
    private let schema: JSON

    init(_ text: String) throws {
        schema = try JSONDecoder().decode(JSON.self, from: Data(text.utf8))
    }

    /// The mistakes of the document, as JSON pointers with a keyword; empty if it is accepted.
    func problems(of node: YAMLNode) -> [String] {
        problems(Instance(node), schema, at: "")
    }

    private func problems(_ instance: Instance, _ schema: JSON, at path: String) -> [String] {
        guard case .object(let members) = schema else { return ["\(path): no schema"] }
        var problems: [String] = []
        for (keyword, value) in members {
            let found = self.problems(instance, keyword, value, members, at: path)
            problems += found
        }
        return problems
    }

    private func problems(
        _ instance: Instance,
        _ keyword: String,
        _ value: JSON,
        _ schema: [String: JSON],
        at path: String
    ) -> [String] {
        let problem = ["\(path): \(keyword)"]
        switch (keyword, value, instance) {
        case ("type", .string(let type), _): return instance.isOf(type) ? [] : problem
        case ("type", .array(let types), _):
            return types.contains { $0.text.map(instance.isOf) ?? false } ? [] : problem
        case ("enum", .array(let values), .string(let text)):
            return values.contains { $0.text == text } ? [] : problem
        case ("enum", _, _): return problem
        case ("pattern", .string(let pattern), .string(let text)):
            guard let regex = try? Regex(pattern) else { return ["\(path): bad pattern"] }
            return text.contains(regex) ? [] : problem
        case ("minimum", .number(let limit), .number(let number)):
            return number >= limit ? [] : problem
        case ("maximum", .number(let limit), .number(let number)):
            return number <= limit ? [] : problem
        case ("required", .array(let names), .object(let members)):
            return names.allSatisfy { name in members.contains { $0.key == name.text } }
                ? [] : problem
        case ("properties", .object(let properties), .object(let members)):
            return members.flatMap { member in
                properties[member.key].map {
                    self.problems(member.value, $0, at: "\(path)/\(member.key)")
                } ?? []
            }
        case ("additionalProperties", .bool(false), .object(let members)):
            guard case .object(let properties) = schema["properties"] else { return [] }
            return members.allSatisfy { properties[$0.key] != nil } ? [] : problem
        case ("additionalProperties", .object, .object(let members)):
            return members.flatMap {
                self.problems($0.value, value, at: "\(path)/\($0.key)")
            }
        case ("items", _, .array(let elements)):
            return elements.enumerated().flatMap {
                self.problems($1, value, at: "\(path)/\($0)")
            }
        case ("anyOf", .array(let schemas), _):
            return schemas.contains { problems(instance, $0, at: path).isEmpty } ? [] : problem
        case ("oneOf", .array(let schemas), _):
            let count = schemas.count { problems(instance, $0, at: path).isEmpty }
            return count == 1 ? [] : problem
        case ("allOf", .array(let schemas), _):
            return schemas.flatMap { problems(instance, $0, at: path) }
        case ("if", _, _):
            guard let then = schema["then"], problems(instance, value, at: path).isEmpty else {
                return []
            }
            return problems(instance, then, at: path)
        case ("then", _, _), ("title", _, _), ("$schema", _, _), ("minimum", _, _),
            ("maximum", _, _), ("required", _, _), ("properties", _, _),
            ("additionalProperties", _, _), ("items", _, _), ("pattern", _, _):
            return []
        default: return ["\(path): unknown keyword \(keyword)"]
        }
    }

    indirect enum JSON: Decodable {
        case string(String)
        case number(Double)
        case bool(Bool)
        case array([JSON])
        case object([String: JSON])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let value = try? container.decode(Bool.self) {
                self = .bool(value)
            } else if let value = try? container.decode(Double.self) {
                self = .number(value)
            } else if let value = try? container.decode(String.self) {
                self = .string(value)
            } else if let value = try? container.decode([JSON].self) {
                self = .array(value)
            } else {
                self = .object(try container.decode([String: JSON].self))
            }
        }

        var text: String? {
            if case .string(let text) = self { text } else { nil }
        }
    }

    /// A YAML value as JSON would have it, scalars resolved by the core schema.
    indirect enum Instance {
        case null
        case bool
        case number(Double)
        case string(String)
        case array([Instance])
        case object([(key: String, value: Instance)])

        init(_ node: YAMLNode) {
            switch node.content {
            case .sequence(let elements): self = .array(elements.map(Instance.init))
            case .mapping(let mapping):
                self = .object(mapping.entries.map { ($0.key, Instance($0.value)) })
            case .scalar where node.isNull: self = .null
            case .scalar(let scalar) where scalar.style != .plain: self = .string(scalar.text)
            case .scalar(let scalar):
                if ["true", "false"].contains(scalar.text) {
                    self = .bool
                } else if let number = Double(scalar.text) {
                    self = .number(number)
                } else {
                    self = .string(scalar.text)
                }
            }
        }

        func isOf(_ type: String) -> Bool {
            switch self {
            case .null: type == "null"
            case .bool: type == "boolean"
            case .number(let number):
                type == "number" || type == "integer" && number.rounded() == number
            case .string: type == "string"
            case .array: type == "array"
            case .object: type == "object"
            }
        }
    }
}
