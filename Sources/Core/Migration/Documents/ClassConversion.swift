package import BSON
package import Changesets
import Documents
package import SchemaFiles
package import Schemas
import Scopes

/// Turns documents of one collection into objects of its class (moving an app, 6.1).
package struct ClassConversion: Sendable {
    package let owner: ClassSchema
    private let key: PrimaryKeySchema
    private let values: ValueConversion
    private let partition: CollectionMap.PartitionField?
    private let isClosed: Bool

    /// Nil if the class has no objects of its own.
    package init?(
        of className: Text,
        _ declaration: SchemaDeclarationView,
        map: CollectionMap,
        isStrict: Bool
    ) {
        guard let owner = declaration.schema[className], let key = owner.primaryKey else {
            return nil
        }
        self.owner = owner
        self.key = key
        self.isClosed = map.closed.contains(className)
        self.partition = isClosed ? nil : map.partition
        self.values = ValueConversion(declaration, map: map, isStrict: isStrict)
    }

    private static let idField: Text = "_id"
    /// Written by hosted sync.
    private static let ownField: Text = "_id__baas_transaction"

    package func object(of document: BSONDocument) throws(Unsyncable) -> ImportedObject {
        var run = ValueConversion.Run()
        guard let id = document[Self.idField] else { throw Unsyncable(.badID, "_id") }
        let objectKey: ObjectKey
        do throws(Unsyncable) {
            objectKey = try values.key(id, key, &run)
        } catch {
            throw Unsyncable(.badID, "_id")
        }
        let partition = try self.partition.map { (field) throws(Unsyncable) in
            try partitionValue(document[field.name], field)
        }
        let content = try values.document(document, of: owner, isTop: true, &run) { name in
            name == Self.idField || name == Self.ownField || name == self.partition?.name
        }
        return ImportedObject(
            object: ObjectReference(className: owner.name, key: objectKey),
            partition: isClosed ? .closed : partition,
            document: content,
            counts: run.counts,
            links: run.links,
            droppedPaths: run.droppedPaths
        )
    }

    private func partitionValue(
        _ value: BSONValue?,
        _ field: CollectionMap.PartitionField
    ) throws(Unsyncable) -> Partition {
        guard let value, value != .null else {
            guard !field.isRequired else {
                throw Unsyncable(.noPartition, field.name.description)
            }
            return .null
        }
        switch (value, field.type) {
        case (.string(let text), .string): return .string(text)
        case (.objectID(let id), .objectID): return .objectID(id)
        case (.binary(4, let bytes), .uuid):
            if let id = UniqueID(bytes: bytes) { return .uuid(id) }
        case (.int32, .int), (.int64, .int), (.double, .int):
            // A conversion is counted where the class has the property.
            var run = ValueConversion.Run()
            if let number = try? values.integer(value, &run) { return .int(number) }
        default: break
        }
        throw Unsyncable(.badPartition, field.name.description)
    }
}

/// A schema with the defaults of its properties.
package struct SchemaDeclarationView: Sendable {
    package let schema: RealmSchema
    let defaults: [PropertyName: Scalar]

    package init(_ declaration: SchemaDeclaration) {
        self.schema = declaration.schema
        self.defaults = declaration.options.compactMapValues(\.defaultValue)
    }
}
