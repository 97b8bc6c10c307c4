import Changesets
import Documents
import Schemas
import Scopes
import ServerStore

/// Moves the objects of an app between the files of its partitions and the one file of flexible sync,
/// in the caller's transaction (flexible sync, 16.1).
///
/// A property of each object has the value of its partition. The files that objects are taken from keep
/// theirs, so that a switch can be repeated; those that they are put into lose what they had.
struct ModeSwitch {
    let transaction: any StoreTransaction
    let app: AppID
    let property: Text

    /// Returns the number of objects.
    func run(to mode: SyncedMode) throws -> Int {
        switch mode {
        case .flexible: try joinPartitions()
        case .partition: try split()
        }
    }

    // MARK: To flexible sync

    private func joinPartitions() throws -> Int {
        let files = try transaction.files(of: app)
        let target =
            try files.first { $0.partition == .flexible }
            ?? transaction.makeFile(of: app, .flexible)
        try empty(target)
        var schema = try transaction.schema(of: target.id)
        var count = 0
        var seen: Set<ServerFileID> = [target.id]
        // Those that are listed are locked. A client of another process may make one meanwhile.
        while true {
            let sources = try transaction.files(of: app).filter { !seen.contains($0.id) }
            guard !sources.isEmpty else { break }
            seen.formUnion(sources.map(\.id))
            for source in sources { count += try move(source, to: target, &schema) }
        }
        try transaction.putSchema(schema, of: target.id)
        guard try transaction.objectCounts(in: target.id).values.reduce(0, +) == count else {
            throw ModeSwitchObstacle(
                description: "several partitions have an object of the same class with the same key"
            )
        }
        return count
    }

    /// Copies the objects of a partition; returns their number.
    private func move(
        _ source: ServerFile,
        to target: ServerFile,
        _ schema: inout RealmSchema
    ) throws -> Int {
        let added = try transaction.schema(of: source.id)
        try join(added, into: &schema)
        try addProperty(source.partition.kind, to: &schema)
        let (old, new) = (JSONForm(schema: added), JSONForm(schema: schema))
        var count = 0
        for owner in try movable(added, in: source) {
            guard let joined = schema[owner.name],
                let position = joined.properties.firstIndex(where: { $0.name == property })
            else { continue }
            try transaction.forEachDocument(of: owner.name, in: source.id) {
                key,
                json throws(StoreError) in
                var document = Self.fit(
                    try old.decodeStored(json, of: owner, in: source.id),
                    of: owner,
                    to: joined
                )
                document.values[position] = .scalar(source.partition.scalar)
                try put(document, key, joined, new, in: target.id)
                count += 1
                return .next
            }
        }
        return count
    }

    // MARK: To partition-based sync

    private func split() throws -> Int {
        let files = try transaction.files(of: app)
        guard let source = files.first(where: { $0.partition == .flexible }) else { return 0 }
        let schema = try transaction.schema(of: source.id)
        for file in files where file.partition != .flexible { try empty(file) }
        let form = JSONForm(schema: schema)
        var targets: [Partition: ServerFileID] = [:]
        var count = 0
        for owner in try movable(schema, in: source) {
            let position = owner.properties.firstIndex { $0.name == property }
            try transaction.forEachDocument(of: owner.name, in: source.id) {
                key,
                json throws(StoreError) in
                let document = try form.decodeStored(json, of: owner, in: source.id)
                let value = position.map { document.values[$0] }
                let partition = value.flatMap { Partition($0) } ?? .null
                let target: ServerFileID
                if let known = targets[partition] {
                    target = known
                } else {
                    target = try makeFile(of: partition, schema)
                    targets[partition] = target
                }
                try put(document, key, owner, form, in: target)
                count += 1
                return .next
            }
        }
        return count
    }

    private func makeFile(
        of partition: Partition,
        _ schema: RealmSchema
    ) throws(StoreError) -> ServerFileID {
        let file: ServerFile
        if let known = try transaction.file(of: app, partition) {
            file = known
        } else {
            file = try transaction.makeFile(of: app, partition)
        }
        try transaction.putSchema(schema, of: file.id)
        return file.id
    }

    // MARK: Steps

    private func empty(_ file: ServerFile) throws(StoreError) {
        for owner in try transaction.schema(of: file.id).classes where !owner.isEmbedded {
            try transaction.removeDocuments(ofClass: owner.name, in: file.id)
        }
    }

    /// Classes with objects of their own. Those without a primary key have no place in flexible sync.
    private func movable(_ schema: RealmSchema, in file: ServerFile) throws -> [ClassSchema] {
        let counts = try transaction.objectCounts(in: file.id)
        return try schema.classes.filter { owner in
            guard !owner.isEmbedded, !owner.isAsymmetric, counts[owner.name] ?? 0 > 0 else {
                return false
            }
            guard owner.primaryKey != nil else {
                throw ModeSwitchObstacle(description: "class \(owner.name) has no primary key")
            }
            return true
        }
    }

    private func join(_ added: RealmSchema, into schema: inout RealmSchema) throws {
        if let conflict = schema.conflicts(withDeclared: added).first {
            throw ModeSwitchObstacle(description: "partitions have different schemas: \(conflict)")
        }
        var writer = ChangesetWriter()
        added.writeAdditions(to: schema, into: &writer)
        try schema.apply(schemaOf: Changeset(decoding: writer.bytes))
    }

    /// Every class has the property, of the partition's type.
    private func addProperty(_ kind: Partition.Kind?, to schema: inout RealmSchema) throws {
        guard let type = kind?.typeCode else { return }
        var writer = ChangesetWriter()
        for owner in schema.classes where !owner.isEmbedded && !owner.isAsymmetric {
            guard owner.primaryKey?.name != property else {
                throw ModeSwitchObstacle(
                    description: "\(owner.name).\(property) is the primary key"
                )
            }
            guard let known = owner.property(named: property) else {
                writer.addColumn(
                    property,
                    to: owner.name,
                    type: type,
                    isNullable: true,
                    collection: .single
                )
                continue
            }
            guard known.type.typeCode == type, known.collection == .single else {
                throw ModeSwitchObstacle(
                    description: "\(owner.name).\(property) has another type than the partitions"
                )
            }
        }
        try schema.apply(schemaOf: Changeset(decoding: writer.bytes))
    }

    /// The same object of a class with more properties, or in another order.
    private static func fit(
        _ document: Document,
        of owner: ClassSchema,
        to joined: ClassSchema
    ) -> Document {
        var fitted = Document(defaultsOf: joined)
        for (position, property) in owner.properties.enumerated() {
            guard let new = joined.properties.firstIndex(where: { $0.name == property.name }) else {
                continue
            }
            fitted.values[new] = document.values[position]
        }
        return fitted
    }

    private func put(
        _ document: Document,
        _ key: ObjectKey,
        _ owner: ClassSchema,
        _ form: JSONForm,
        in file: ServerFileID
    ) throws(StoreError) {
        try transaction.putDocument(
            form.encode(document, key: key, of: owner),
            of: ObjectReference(className: owner.name, key: key),
            in: file
        )
    }
}

/// The mode that an app is switched to.
package enum SyncedMode: String, Codable, Sendable {
    case flexible, partition
}

/// A class or an object that cannot be moved; nothing has changed.
package struct ModeSwitchObstacle: Error, CustomStringConvertible {
    package let description: String
}

extension Partition.Kind {
    fileprivate var typeCode: TypeCode {
        switch self {
        case .string: .string
        case .int: .int
        case .objectID: .objectID
        case .uuid: .uuid
        }
    }
}

extension Partition {
    fileprivate var scalar: Scalar {
        switch self {
        case .null: .null
        case .string(let text): .string(text)
        case .int(let value): .int(value)
        case .objectID(let value): .objectID(value)
        case .uuid(let value): .uuid(value)
        }
    }

    fileprivate init?(_ value: Value) {
        guard case .scalar(let scalar) = value else { return nil }
        switch scalar {
        case .null: self = .null
        case .string(let text): self = .string(text)
        case .int(let value): self = .int(value)
        case .objectID(let value): self = .objectID(value)
        case .uuid(let value): self = .uuid(value)
        default: return nil
        }
    }
}
