import Changesets
import Schemas
import Settings

/// Turns the classes of a file into a schema, and reports contradictions between them.
struct SchemaChecker {
    private let drafts: [ClassDraft]
    private let byName: [String: ClassDraft]

    init(_ drafts: [ClassDraft]) {
        self.drafts = drafts
        self.byName = Dictionary(drafts.map { ($0.name, $0) }) { first, _ in first }
    }

    func declaration() -> SchemaDeclaration {
        var declaration = SchemaDeclaration(schema: RealmSchema())
        for draft in drafts {
            let kind = kind(of: draft)
            let properties = draft.properties.filter { $0.name != draft.primaryKey?.name }
            for property in properties {
                checkTarget(of: property)
                add(property, of: draft, to: &declaration)
            }
            guard let kind else { continue }
            declaration.schema.update(
                ClassSchema(
                    name: Text(draft.name),
                    kind: kind,
                    properties: properties.map {
                        PropertySchema(
                            name: Text($0.name),
                            type: $0.type.type,
                            isNullable: $0.type.isNullable,
                            collection: $0.type.collection
                        )
                    }
                )
            )
        }
        return declaration
    }

    private func add(
        _ property: PropertyDraft,
        of draft: ClassDraft,
        to declaration: inout SchemaDeclaration
    ) {
        guard property.options != PropertyOptions() else { return }
        let name = PropertyName(className: Text(draft.name), property: Text(property.name))
        declaration.options[name] = property.options
    }

    // MARK: Kinds and keys

    private func kind(of draft: ClassDraft) -> ClassSchema.Kind? {
        if draft.isEmbedded {
            if draft.isAsymmetric {
                draft.reader.report(
                    .conflict,
                    "is both embedded and asymmetric",
                    remedy: "keep one of the two"
                )
            }
            draft.primaryKey?.reader.report(
                .badPrimaryKey,
                "an embedded class has no primary key",
                remedy: "remove it, or \"embedded\""
            )
            return .embedded
        }
        return primaryKey(of: draft).map { draft.isAsymmetric ? .asymmetric($0) : .topLevel($0) }
    }

    private func primaryKey(of draft: ClassDraft) -> PrimaryKeySchema? {
        guard let (name, reader) = draft.primaryKey else {
            draft.reader.report(
                .badPrimaryKey,
                "has no primary key",
                remedy: "name a property in \"primary_key\", or make the class embedded"
            )
            return nil
        }
        guard let property = draft.properties.first(where: { $0.name == name }) else {
            reader.report(
                .badPrimaryKey,
                "the class has no property \(quoted(name))",
                remedy: Suggestion.remedy(for: name, among: draft.properties.map(\.name))
            )
            return nil
        }
        guard property.type.collection == .single, let type = property.type.type.primaryKeyType
        else {
            property.reader.report(
                .badPrimaryKey,
                "\(property.type) cannot identify objects",
                remedy: "make the primary key an int, string, object_id or uuid"
            )
            return nil
        }
        if property.options != PropertyOptions() {
            property.reader.report(
                .badPrimaryKey,
                "a primary key never changes and has no default",
                remedy: "remove \"counter\" and \"default\""
            )
        }
        return PrimaryKeySchema(
            name: Text(name),
            type: type,
            isNullable: property.type.isNullable
        )
    }

    // MARK: Links

    private func checkTarget(of property: PropertyDraft) {
        guard let name = property.type.target?.description else { return }
        guard let target = byName[name] else {
            property.reader.report(
                .unknownClass,
                "there is no class \(quoted(name))",
                remedy: Suggestion.nearest(to: name, among: drafts.map(\.name))
                    .map { "did you mean \"\($0)\"?" } ?? "declare it in this file"
            )
            return
        }
        let isEmbedded = property.type.isEmbedded
        if target.isAsymmetric {
            property.reader.report(
                .badLink,
                "nothing can link to \(quoted(name)), which is asymmetric",
                remedy: "remove the link"
            )
        } else if isEmbedded != target.isEmbedded {
            property.reader.report(
                .badLink,
                "\(quoted(name)) is \(target.isEmbedded ? "an embedded" : "a top-level") class",
                remedy: "use \(target.isEmbedded ? "embedded" : "link")<\(name)>"
            )
        }
    }
}

extension PropertyType {
    fileprivate var primaryKeyType: PrimaryKeyType? {
        switch self {
        case .int: .int
        case .string: .string
        case .objectID: .objectID
        case .uuid: .uuid
        default: nil
        }
    }
}
