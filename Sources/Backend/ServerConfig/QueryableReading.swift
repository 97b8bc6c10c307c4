import Changesets
import Query
import Schemas
import Settings
import YAML

/// The queryable fields of a configuration, with their positions in it.
struct QueryableReading {
    /// The lists of fields; a list without a class is for all classes.
    let fields: [FieldList]
    let indexedField: (name: Text, node: NodeReader)?

    struct FieldList {
        let className: Text?
        let node: NodeReader
        let names: [(name: Text, node: NodeReader)]
    }

    /// More cost each write more than they are worth (flexible sync, 12.7).
    private static let usualCount = 10

    var value: QueryableFields {
        var value = QueryableFields()
        for list in fields {
            let names = Set(list.names.map(\.name))
            if let className = list.className {
                value.classes[className] = names
            } else {
                value.common = names
            }
        }
        return value
    }

    /// Clients that switch from partition-based sync subscribe by this property.
    func check(partitionKey: (name: String, node: NodeReader)?) {
        guard let partitionKey else { return }
        let isListed = fields.contains { $0.names.contains { $0.name == Text(partitionKey.name) } }
        guard !isListed else { return }
        partitionKey.node.report(
            .unknownName,
            "\(partitionKey.name) is not among the queryable fields",
            remedy: "add it to sync.queryable_fields, or remove partition_key"
        )
    }

    /// The checks that need no schema.
    func check() {
        for list in fields where list.names.count > Self.usualCount {
            list.node.report(
                .badValue,
                severity: .warning,
                "has \(list.names.count) fields, each of which makes writes slower",
                remedy: "list the \(Self.usualCount) that subscriptions and roles need"
            )
        }
        guard let indexedField else { return }
        let names = fields.flatMap { $0.names.map(\.name) }
        if !names.contains(indexedField.name) {
            indexedField.node.report(
                .unknownName,
                "\(indexedField.name) is not among the queryable fields",
                remedy: "add it to sync.queryable_fields"
            )
        }
    }

    /// - Parameter isComplete: whether clients cannot add classes and properties.
    func check(_ schema: RealmSchema, isComplete: Bool) {
        for list in fields {
            if let className = list.className {
                check(list, of: className, schema, isComplete)
            } else {
                for (name, node) in list.names {
                    checkCommon(name, node, schema, isComplete)
                }
            }
        }
        guard let indexedField else { return }
        for owner in schema.classes {
            guard let property = owner.property(named: indexedField.name),
                !property.canBeIndexed
            else { continue }
            indexedField.node.report(
                .badValue,
                "\(owner.name).\(property.name) is \(schema.definition(of: property))",
                remedy: "name a property with one text, whole number, boolean or id in all classes"
            )
        }
    }

    private func check(
        _ list: FieldList,
        of className: Text,
        _ schema: RealmSchema,
        _ isComplete: Bool
    ) {
        guard let owner = schema[className] else {
            return list.node.report(
                .unknownName,
                severity: isComplete ? .error : .warning,
                "the schema has no class \(className)",
                remedy: "name a class of the schema file"
            )
        }
        for (name, node) in list.names where owner.primaryKey?.name != name {
            guard let property = owner.property(named: name) else {
                node.report(
                    .unknownName,
                    severity: isComplete ? .error : .warning,
                    "\(className) has no property \(name)",
                    remedy: "name a property of the class"
                )
                continue
            }
            check(property, node, of: className, schema)
        }
    }

    private func checkCommon(
        _ name: Text,
        _ node: NodeReader,
        _ schema: RealmSchema,
        _ isComplete: Bool
    ) {
        let owners = schema.classes.filter { owner in
            !owner.isEmbedded
                && (owner.primaryKey?.name == name || owner.position(of: name) != nil)
        }
        if owners.isEmpty {
            node.report(
                .unknownName,
                severity: isComplete ? .error : .warning,
                "no class has a property \(name)",
                remedy: "name a property of a class with a primary key"
            )
        }
        for owner in owners {
            guard let property = owner.property(named: name) else { continue }
            check(property, node, of: owner.name, schema)
        }
    }

    private func check(
        _ property: PropertySchema,
        _ node: NodeReader,
        of className: Text,
        _ schema: RealmSchema
    ) {
        guard let obstacle = schema.obstacleToQueries(on: property) else { return }
        node.report(
            .badValue,
            "\(className).\(property.name) \(obstacle)",
            remedy: "name properties with one value, or a list or set of values"
        )
    }
}

extension PropertySchema {
    /// Whether it can be the indexed queryable field (flexible sync, 12.8).
    fileprivate var canBeIndexed: Bool {
        switch type {
        case .int, .bool, .string, .objectID, .uuid: collection == .single
        case .mixed, .binary, .timestamp, .float, .double, .decimal, .link: false
        }
    }
}

extension NodeReader {
    /// One list for all classes, or a list for each class.
    func queryableFields() -> [QueryableReading.FieldList]? {
        if case .sequence = node.content {
            return fieldNames().map { [.init(className: nil, node: self, names: $0)] }
        }
        describe(.list(.text))
        return entries { entry -> QueryableReading.FieldList? in
            entry.value.fieldNames().map {
                .init(className: Text(entry.name), node: entry.value, names: $0)
            }
        }.compactMap(\.self)
    }

    private func fieldNames() -> [(name: Text, node: NodeReader)]? {
        elements { node in node.string().map { (Text($0), node) } }
    }
}
