import Changesets
import Schemas

/// Writes a declaration in the form of a schema file.
struct SchemaPrinter {
    let declaration: SchemaDeclaration

    init(_ declaration: SchemaDeclaration) {
        self.declaration = declaration
    }

    func text() -> String {
        let classes = declaration.schema.classes
        guard !classes.isEmpty else { return "classes: {}\n" }
        return "classes:\n" + classes.map(text).joined()
    }

    private func text(of schema: ClassSchema) -> String {
        var text = "  \(key(schema.name)):\n"
        switch schema.kind {
        case .topLevel: break
        case .embedded: text += "    embedded: true\n"
        case .asymmetric: text += "    asymmetric: true\n"
        }
        var properties = schema.properties.map { self.text(of: $0, in: schema.name) }
        // A class learned without primary key has none here; such a class cannot be declared.
        if let primaryKey = schema.primaryKey, let type = primaryKey.type.propertyType {
            text += "    primary_key: \(key(primaryKey.name))\n"
            let type = PropertyTypeText(type: type, isNullable: primaryKey.isNullable)
            properties.insert("      \(key(primaryKey.name)): \(type)\n", at: 0)
        }
        if properties.isEmpty { return text + "    properties: {}\n" }
        return text + "    properties:\n" + properties.joined()
    }

    private func text(of property: PropertySchema, in className: Text) -> String {
        let name = PropertyName(className: className, property: property.name)
        let options = declaration.options[name] ?? PropertyOptions()
        let type = YAMLText.scalar(spelling(of: property).description)
        var details: [String] = []
        if let value = options.defaultValue {
            details.append("default: \(DefaultValue.text(of: value))")
        }
        if options.isCounter { details.append("counter: true") }
        let value =
            details.isEmpty ? type : "{ type: \(type), \(details.joined(separator: ", ")) }"
        return "      \(key(property.name)): \(value)\n"
    }

    func spelling(of property: PropertySchema) -> PropertyTypeText {
        var isEmbedded = false
        if case .link(let target) = property.type {
            isEmbedded = declaration.schema[target]?.isEmbedded ?? false
        }
        return PropertyTypeText(
            type: property.type,
            collection: property.collection,
            isNullable: property.isNullable,
            isEmbedded: isEmbedded
        )
    }

    private func key(_ name: Text) -> String {
        YAMLText.scalar(name.description)
    }
}

extension PrimaryKeyType {
    var propertyType: PropertyType? {
        switch self {
        case .int: .int
        case .string: .string
        case .objectID: .objectID
        case .uuid: .uuid
        case .globalKey: nil
        }
    }
}
