import BSON
import Changesets
import SchemaFiles
import Schemas

/// Turns the JSON schemas of collections into classes (moving an app, 2).
struct SchemaConversion {
    private let options: AppImportOptions
    private let asymmetricNames: Set<String>
    private var findings = ImportFindings()
    private var result = ImportedSchema()
    /// Collections that become classes, in the order of the export.
    private var sources: [Source] = []
    private var embedded: [String: Embedded] = [:]
    private var embeddedOrder: [String] = []
    private var constraints: [String] = []

    struct Source {
        let collection: ExportedCollection
        let className: String
        let node: BSONSchemaNode
        let key: PrimaryKeySchema
        let file: String
    }

    private struct Embedded {
        let shape: BSONSchemaNode.Shape
        let place: String
        var schema: ClassSchema
    }

    /// The most bytes of names (changesets spec).
    private static let classNameLimit = 57
    private static let propertyNameLimit = 63

    private init(_ options: AppImportOptions, asymmetric names: [String]) {
        self.options = options
        self.asymmetricNames = Set(names)
    }

    static func run(
        _ app: ExportedApp,
        _ options: AppImportOptions
    ) -> (schema: ImportedSchema, findings: ImportFindings) {
        let tables = app.sync?.content["asymmetric_tables"]?.elements ?? []
        var conversion = SchemaConversion(options, asymmetric: tables.compactMap(\.text))
        conversion.convert(app)
        return (conversion.result, conversion.findings)
    }

    private mutating func convert(_ app: ExportedApp) {
        let collections = app.collections.filter {
            options.database == nil || $0.database == options.database
        }
        for collection in collections { addSource(collection) }
        refuseEqualTitles()
        for source in sources { convert(source) }
        for name in embeddedOrder {
            if let schema = embedded[name]?.schema { result.declaration.schema.update(schema) }
        }
        refuseEmbeddedTitles()
        checkAsymmetric()
        if result.classes.isEmpty, !findings.isFatal {
            findings.add(
                ImportFinding(
                    .warning,
                    "import.no_class",
                    "",
                    "no collection of the synced service has become a class",
                    remedy: "check that the export is whole: schemas are in files schema.json"
                )
            )
        }
        if !constraints.isEmpty {
            findings.add(
                ImportFinding(
                    .note,
                    "import.constraint",
                    constraints.joined(separator: ", "),
                    "values are not checked against these rules",
                    remedy: "check them in the apps"
                )
            )
        }
        if !result.withoutClass.isEmpty {
            findings.add(
                ImportFinding(
                    .note,
                    "import.no_class",
                    result.withoutClass.sorted().joined(separator: ", "),
                    "collections without a schema were not synced",
                    remedy: "none is needed"
                )
            )
        }
    }

    // MARK: Classes

    private mutating func addSource(_ collection: ExportedCollection) {
        guard let file = collection.schema, case let node = BSONSchemaNode(tree: file.content),
            let properties = node.properties
        else {
            result.withoutClass.append(collection.path)
            return
        }
        let given = options.classNames[collection.path]
        let name = given ?? node.title ?? collection.name
        if given == nil, node.title == nil {
            report(
                .warning,
                "import.no_title",
                file,
                collection.path,
                "the schema has no title; the class is named \(name)",
                remedy: "give --class \(collection.path)=NAME if the apps use another name"
            )
        }
        if let problem = SchemaName.problem(of: name, Self.classNameLimit) {
            report(
                .fatal,
                "import.bad_name",
                file,
                collection.path,
                problem,
                remedy: "give --class \(collection.path)=NAME"
            )
            return
        }
        guard let id = properties.first(where: { $0.name == "_id" })?.node else {
            report(
                .error,
                "import.no_primary_key",
                file,
                collection.path,
                "the schema has no _id; the class is left out",
                remedy: "add _id to the schema"
            )
            return
        }
        let types = id.types
        guard types.names.count == 1, let type = Self.keyTypes[types.names[0]] else {
            report(
                .error,
                "import.bad_primary_key",
                file,
                collection.path,
                "_id of type \(types.names.joined(separator: "|")) cannot identify objects; "
                    + "the class is left out",
                remedy: "use string, long, objectId or uuid"
            )
            return
        }
        let isNullable = !node.required.contains("_id") || types.acceptsNull
        sources.append(
            Source(
                collection: collection,
                className: name,
                node: node,
                key: PrimaryKeySchema(name: "_id", type: type, isNullable: isNullable),
                file: file.path
            )
        )
    }

    private static let keyTypes: [String: PrimaryKeyType] = [
        "string": .string, "int": .int, "long": .int, "objectId": .objectID, "uuid": .uuid,
    ]

    private mutating func refuseEqualTitles() {
        let groups = Dictionary(grouping: sources, by: \.className).filter { $0.value.count > 1 }
        for (name, sources) in groups.sorted(by: { $0.key < $1.key }) {
            let places = sources.map(\.collection.path).joined(separator: ", ")
            findings.add(
                ImportFinding(
                    .fatal,
                    "import.class_conflict",
                    in: sources[0].file,
                    name,
                    "\(places) have one title",
                    remedy: "choose with --database, or rename one with --class"
                )
            )
        }
    }

    private mutating func refuseEmbeddedTitles() {
        for source in sources {
            guard let other = embedded[source.className] else { continue }
            findings.add(
                ImportFinding(
                    .fatal,
                    "import.class_conflict",
                    in: source.file,
                    source.className,
                    "\(source.collection.path) and the embedded \(other.place) have one title",
                    remedy: "rename one with --class"
                )
            )
        }
    }

    private mutating func checkAsymmetric() {
        for name in asymmetricNames.sorted() {
            let isKnown = sources.contains { $0.className == name || $0.collection.name == name }
            guard !isKnown else { continue }
            findings.add(
                ImportFinding(
                    .warning,
                    "import.unknown_name",
                    in: "sync/config.json",
                    "asymmetric_tables \(name)",
                    "no collection has this name",
                    remedy: "none is needed if the class is gone"
                )
            )
        }
    }

    private mutating func convert(_ source: Source) {
        let name = Text(source.className)
        let isAsymmetric =
            asymmetricNames.contains(source.className)
            || asymmetricNames.contains(source.collection.name)
        var relationships = Dictionary(
            ExportedRelationship.all(of: source.collection.relationships).map { ($0.path, $0) }
        ) { first, _ in first }
        let properties = convert(
            source.node,
            of: source,
            path: "",
            namePath: [source.className],
            owner: source.className,
            &relationships
        )
        for path in relationships.keys.sorted() {
            report(
                .error,
                "import.bad_relationship",
                in: source,
                "\(source.className).\(path)",
                "there is no such property",
                remedy: "remove the relationship"
            )
        }
        result.declaration.schema.update(
            ClassSchema(
                name: name,
                kind: isAsymmetric ? .asymmetric(source.key) : .topLevel(source.key),
                properties: properties
            )
        )
        result.classes[source.collection.path] = name
    }

    // MARK: Properties

    /// The properties of a class or embedded object.
    ///
    /// - Parameters:
    ///   - path: of a relationship to the node: empty, `box.`, `spots.[].`.
    ///   - namePath: the class and the properties that lead to the node.
    ///   - owner: the class that gets the properties.
    private mutating func convert(
        _ node: BSONSchemaNode,
        of source: Source,
        path: String,
        namePath: [String],
        owner: String,
        _ relationships: inout [String: ExportedRelationship]
    ) -> [PropertySchema] {
        let required = node.required
        var properties: [PropertySchema] = []
        for (name, child) in node.properties ?? [] where !(path.isEmpty && name == "_id") {
            var property = PropertyConversion(
                name: name,
                node: child,
                isRequired: required.contains(name),
                place: "\(owner).\(name)",
                namePath: namePath + [name],
                relationshipPath: path + name
            )
            if let problem = SchemaName.problem(of: name, Self.propertyNameLimit) {
                report(
                    .fatal,
                    "import.bad_name",
                    in: source,
                    property.place,
                    problem,
                    remedy: "rename the property in the schema"
                )
                continue
            }
            let rules =
                child.constraints
                + (child.tree["items"].map { BSONSchemaNode(tree: $0).constraints } ?? [])
            if !rules.isEmpty {
                constraints.append("\(owner).\(name) \(rules.joined(separator: " "))")
            }
            guard let form = property.form() else {
                report(
                    .error,
                    "import.bad_type",
                    in: source,
                    property.place,
                    "\(property.problem); the property is left out",
                    remedy: "clients that have it cannot sync it; change their class, or the schema"
                )
                relationships[property.relationshipPath] = nil
                continue
            }
            if let schema = convert(form, property, of: source, owner: owner, &relationships) {
                properties.append(schema)
            }
        }
        return properties
    }

    private mutating func convert(
        _ form: PropertyConversion.Form,
        _ property: PropertyConversion,
        of source: Source,
        owner: String,
        _ relationships: inout [String: ExportedRelationship]
    ) -> PropertySchema? {
        let relationship = relationships.removeValue(forKey: property.relationshipPath)
        let name = Text(property.name)
        switch form.element {
        case .scalar(let type):
            let link = relationship.flatMap { target(of: $0, form, type, property, of: source) }
            if let link {
                if property.isRequired, form.collection == .single {
                    reportRequired("link", property, source)
                }
                return PropertySchema(
                    name: name,
                    type: .link(target: link),
                    isNullable: form.collection == .single || form.collection == .dictionary,
                    collection: form.collection
                )
            }
            if form.collection == .single { readDefault(of: property, type, owner: owner, source) }
            return PropertySchema(
                name: name,
                type: type,
                isNullable: form.isNullable,
                collection: form.collection
            )
        case .mixed:
            if relationship != nil { reportNotScalar(property, source) }
            if property.isRequired, form.collection == .single {
                reportRequired("mixed", property, source)
            }
            return PropertySchema(
                name: name,
                type: .mixed,
                isNullable: true,
                collection: form.collection
            )
        case .embedded(let node):
            if relationship != nil { reportNotScalar(property, source) }
            if property.isRequired, form.collection == .single {
                reportRequired("embedded", property, source)
            }
            guard
                let target = embeddedClass(
                    node,
                    property,
                    isElement: form.collection != .single,
                    of: source,
                    &relationships
                )
            else { return nil }
            return PropertySchema(
                name: name,
                type: .link(target: Text(target)),
                isNullable: form.collection == .single || form.collection == .dictionary,
                collection: form.collection
            )
        }
    }

    private mutating func embeddedClass(
        _ node: BSONSchemaNode,
        _ property: PropertyConversion,
        isElement: Bool,
        of source: Source,
        _ relationships: inout [String: ExportedRelationship]
    ) -> String? {
        let given = options.classNames[property.namePath.joined(separator: ".")]
        let name = given ?? node.title ?? property.namePath.joined(separator: "_")
        if let problem = SchemaName.problem(of: name, Self.classNameLimit) {
            report(
                .fatal,
                "import.bad_name",
                in: source,
                property.place,
                "the embedded class \(name): \(problem)",
                remedy: "give --class \(property.namePath.joined(separator: "."))=NAME"
            )
            return nil
        }
        let shape = node.shape
        let known = embedded[name]
        if let known, known.shape != shape {
            let differing = Set(known.shape.properties).symmetricDifference(shape.properties)
            let names = Set(differing.map(\.name)).sorted().joined(separator: ", ")
            report(
                .fatal,
                "import.class_conflict",
                in: source,
                name,
                "\(known.place) and \(property.place) differ"
                    + (names.isEmpty ? " in required" : " (\(names))"),
                remedy: "give --class \(property.namePath.joined(separator: "."))=NAME"
            )
            return name
        }
        if known == nil {
            embeddedOrder.append(name)
            embedded[name] = Embedded(
                shape: shape,
                place: property.place,
                schema: ClassSchema(name: Text(name), kind: .embedded)
            )
        }
        let path = property.relationshipPath + (isElement ? ".[]." : ".")
        let properties = convert(
            node,
            of: source,
            path: path,
            namePath: given == nil && node.title == nil ? property.namePath : [name],
            owner: name,
            &relationships
        )
        if known == nil || embedded[name]?.schema.properties.isEmpty == true {
            embedded[name]?.schema = ClassSchema(
                name: Text(name),
                kind: .embedded,
                properties: properties
            )
        } else if let schema = embedded[name]?.schema, schema.properties != properties {
            report(
                .fatal,
                "import.class_conflict",
                in: source,
                name,
                "\(embedded[name]?.place ?? "") and \(property.place) have different relationships",
                remedy: "give --class \(property.namePath.joined(separator: "."))=NAME"
            )
        }
        return name
    }

    // MARK: Relationships

    /// The class that the property links to; nil, and reported, if it is not a link here.
    private mutating func target(
        of relationship: ExportedRelationship,
        _ form: PropertyConversion.Form,
        _ type: PropertyType,
        _ property: PropertyConversion,
        of source: Source
    ) -> Text? {
        guard relationship.foreignKey == "_id" else {
            report(
                .warning,
                "import.plain_reference",
                in: source,
                property.place,
                "the foreign key is \(relationship.foreignKey); this was not a link for clients",
                remedy: "none is needed"
            )
            return nil
        }
        let problem: String
        let target = sources.first {
            $0.collection.path == relationship.target
                && $0.collection.service == source.collection.service
        }
        if let target, relationship.isList == (form.collection != .single) {
            if target.key.type.propertyType == type { return Text(target.className) }
            problem =
                "it is \(property.node.types.names.first ?? "of another type"), and _id of "
                + "\(target.className) has another type"
        } else if target == nil {
            problem = "\(relationship.target ?? "the target") has no class"
        } else {
            problem = "is_list is \(relationship.isList), which does not fit the property"
        }
        report(
            .error,
            "import.bad_relationship",
            in: source,
            property.place,
            "\(problem); it stays a plain property",
            remedy: "correct the relationship"
        )
        return nil
    }

    private mutating func reportNotScalar(_ property: PropertyConversion, _ source: Source) {
        report(
            .error,
            "import.bad_relationship",
            in: source,
            property.place,
            "the property does not hold keys; it stays as it is",
            remedy: "remove the relationship"
        )
    }

    private mutating func reportRequired(
        _ kind: String,
        _ property: PropertyConversion,
        _ source: Source
    ) {
        report(
            .warning,
            "import.required_link",
            in: source,
            property.place,
            "is required, but a property of kind \(kind) can always be null for clients",
            remedy: "none is needed"
        )
    }

    private mutating func readDefault(
        of property: PropertyConversion,
        _ type: PropertyType,
        owner: String,
        _ source: Source
    ) {
        guard let tree = property.node.tree["default"] else { return }
        guard let value = DefaultConversion.scalar(tree, type) else {
            report(
                .warning,
                "import.bad_default",
                in: source,
                property.place,
                "the default does not have the property's type, and is dropped",
                remedy: "correct it in the schema"
            )
            return
        }
        guard value != .null else { return }
        let name = PropertyName(className: Text(owner), property: Text(property.name))
        result.declaration.options[name] = PropertyOptions(defaultValue: value)
    }

    // MARK: Reports

    private mutating func report(
        _ severity: ImportFinding.Severity,
        _ code: String,
        in source: Source,
        _ place: String,
        _ problem: String,
        remedy: String
    ) {
        findings.add(
            ImportFinding(severity, code, in: source.file, place, problem, remedy: remedy)
        )
    }

    private mutating func report(
        _ severity: ImportFinding.Severity,
        _ code: String,
        _ file: ExportedFile,
        _ place: String,
        _ problem: String,
        remedy: String
    ) {
        findings.add(
            ImportFinding(severity, code, in: file.path, place, problem, remedy: remedy)
        )
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
