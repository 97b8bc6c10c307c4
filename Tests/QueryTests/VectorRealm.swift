import Changesets
import Documents
import Query
import Schemas
import TestSupport
import Testing

/// The schema and the objects that the recorded queries were evaluated over.
final class VectorRealm: Sendable {
    let schema: RealmSchema
    /// In the order of the recording.
    let objects: [Text: [VectorObject.Row]]
    private let rows: [ObjectReference: VectorObject.Row]
    /// The links to an object, once for each link.
    private let referrers: [ObjectReference: [PropertyName: [ObjectReference]]]

    static let shared = Result { try VectorRealm() }

    private init() throws {
        schema = try VectorReader.schema(Vectors.node(of: "query/schema.json"))
        var objects: [Text: [VectorObject.Row]] = [:]
        var rows: [ObjectReference: VectorObject.Row] = [:]
        var referrers: [ObjectReference: [PropertyName: [ObjectReference]]] = [:]
        for line in try Vectors.nodes(of: "query/objects.jsonl") {
            let row = try VectorReader.row(line, schema)
            objects[row.reference.className, default: []].append(row)
            rows[row.reference] = row
            for (property, value) in zip(row.schema.properties, row.document.values) {
                let name = PropertyName(
                    className: row.reference.className,
                    property: property.name
                )
                for link in value.links {
                    referrers[link, default: [:]][name, default: []].append(row.reference)
                }
            }
        }
        self.objects = objects
        self.rows = rows
        self.referrers = referrers
    }

    func object(_ reference: ObjectReference) -> VectorObject? {
        rows[reference].map { VectorObject(realm: self, row: $0) }
    }

    func referrers(
        to reference: ObjectReference,
        of className: Text,
        through property: Text
    ) -> [VectorObject] {
        let name = PropertyName(className: className, property: property)
        return (referrers[reference]?[name] ?? []).compactMap { object($0) }
    }

    func objects(of className: Text) -> [VectorObject] {
        (objects[className] ?? []).map { VectorObject(realm: self, row: $0) }
    }
}

struct VectorObject: QueryableObject {
    final class Row: Sendable {
        let reference: ObjectReference
        let schema: ClassSchema
        let document: Document

        init(reference: ObjectReference, schema: ClassSchema, document: Document) {
            self.reference = reference
            self.schema = schema
            self.document = document
        }
    }

    let realm: VectorRealm
    let row: Row

    func value(of field: QueryField) -> Value {
        guard let position = field.position else {
            return .scalar(Scalar(key: row.reference.key))
        }
        return row.document.values[position]
    }

    func object(_ reference: ObjectReference) -> (any QueryableObject)? {
        realm.object(reference)
    }

    func referrers(
        of className: Text,
        through property: Text
    ) -> [any QueryableObject] {
        realm.referrers(to: row.reference, of: className, through: property)
    }
}

extension Scalar {
    fileprivate init(key: ObjectKey) {
        switch key {
        case .null, .globalKey: self = .null
        case .int(let value): self = .int(value)
        case .string(let value): self = .string(value)
        case .objectID(let value): self = .objectID(value)
        case .uuid(let value): self = .uuid(value)
        }
    }
}

extension Value {
    fileprivate var links: [ObjectReference] {
        switch self {
        case .scalar(.link(let link)): [link]
        case .scalar, .object: []
        case .list(let elements): elements.flatMap(\.links)
        case .set(let set): set.elements.flatMap { Value.scalar($0).links }
        case .dictionary(let members): members.values.flatMap(\.links)
        }
    }
}
