import Changesets
import Documents
import FoundationEssentials
import JSON
import Schemas

/// The same declaration as JSON, which is valid YAML: `SchemaFile.parse` reads it back.
extension SchemaPrinter {
    func json() -> String {
        let classes = declaration.schema.classes.map { member($0.name, json(of: $0)) }
        return "{\"classes\":{\(classes.joined(separator: ","))}}\n"
    }

    private func json(of schema: ClassSchema) -> String {
        var members: [String] = []
        switch schema.kind {
        case .topLevel: break
        case .embedded: members.append(member("embedded", "true"))
        case .asymmetric: members.append(member("asymmetric", "true"))
        }
        var properties: [String] = []
        if let key = schema.primaryKey, let type = key.type.propertyType {
            members.append(member("primary_key", quoted(key.name.description)))
            let spelling = PropertyTypeText(type: type, isNullable: key.isNullable)
            properties.append(member(key.name, quoted(spelling.description)))
        }
        properties += schema.properties.map { member($0.name, json(of: $0, in: schema.name)) }
        members.append(member("properties", "{\(properties.joined(separator: ","))}"))
        return "{\(members.joined(separator: ","))}"
    }

    private func json(of property: PropertySchema, in className: Text) -> String {
        let name = PropertyName(className: className, property: property.name)
        let options = declaration.options[name] ?? PropertyOptions()
        let type = quoted(spelling(of: property).description)
        var members: [String] = []
        if let value = options.defaultValue { members.append(member("default", json(of: value))) }
        if options.isCounter { members.append(member("counter", "true")) }
        guard !members.isEmpty else { return type }
        return "{\((["\"type\":\(type)"] + members).joined(separator: ","))}"
    }

    private func json(of value: Scalar) -> String {
        switch value {
        case .null, .link: "null"
        case .int(let value): "\(value)"
        case .bool(let value): "\(value)"
        case .string(let value): quoted(value.description)
        case .binary(let value): quoted(Data(value).base64EncodedString())
        case .float(let value) where value.value.isFinite: "\(value.value)"
        case .double(let value) where value.value.isFinite: "\(value.value)"
        case .float, .double: quoted(DefaultValue.text(of: value))
        case .timestamp, .decimal, .objectID, .uuid:
            if case .text(let bytes) = ColumnForm.encode(value) {
                quoted(String(decoding: bytes, as: UTF8.self))
            } else {
                "null"
            }
        }
    }

    private func member(_ name: Text, _ value: String) -> String {
        "\(quoted(name.description)):\(value)"
    }

    private func quoted(_ text: String) -> String {
        JSONString.quoted(text, .numericForYAML)
    }
}
