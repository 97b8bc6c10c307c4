import BSON
import Changesets
import Documents
import Schemas

enum DocumentInput {
    private static let types: [(name: Text, type: PropertyType)] = [
        ("a", .int), ("b", .bool), ("c", .string), ("d", .binary), ("e", .timestamp),
        ("f", .double),
        ("g", .float), ("h", .decimal), ("i", .objectID), ("j", .uuid), ("k", .mixed),
    ]
    /// A class with a property of each type.
    private static let owner = ClassSchema(
        name: "Item",
        kind: .topLevel(PrimaryKeySchema(name: "_id", type: .int, isNullable: false)),
        properties: types.map { PropertySchema(name: $0.name, type: $0.type, isNullable: true) }
    )
    private static let schema = RealmSchema([owner])
    private static let form = JSONForm(schema: schema)
    private static let decoder = DocumentDecoder(of: owner, form)

    static func runStored(_ bytes: [UInt8], _ claims: inout Claims) {
        let general = Result { () throws(FormError) in try form.decodeDocument(bytes, of: owner) }
        let prepared = Result { () throws(FormError) in try decoder.decode(bytes) }
        claims.check(general == prepared, "the decoder of a class reads something else")
        guard case .success(let document) = general else { return }
        claims.check(
            DocumentEncoder(of: owner, form).encode(document, key: .int(1))
                == form.encode(document, key: .int(1), of: owner),
            "the encoder of a class writes something else"
        )
        let object = ObjectReference(className: "Item", key: .int(1))
        var (copied, written) = (ChangesetWriter(), ChangesetWriter())
        var copier = DocumentCopier(of: owner, in: schema)
        try? copier.copy(bytes, as: object, into: &copied)
        written.writeObject(document, as: object, of: owner, in: schema)
        claims.check(copied.bytes == written.bytes, "a copied document is another one")
    }

    static func runBSON(_ bytes: [UInt8], _ claims: inout Claims) {
        guard let document = try? BSONDocument(decoding: bytes) else { return }
        let again = try? BSONDocument(decoding: document.encoded())
        claims.check(again == document, "a document is another one when it is read again")
        var text = ExtendedJSONText(.canonical)
        text.write(document)
        // Documents may have a name twice, and be deeper than JSON is read: it may be refused.
        runExtendedJSON(text.bytes, &claims)
    }

    static func runExtendedJSON(_ bytes: [UInt8], _ claims: inout Claims) {
        guard let trees = try? JSONTree.sequence(parsing: bytes) else { return }
        for tree in trees {
            guard let document = try? BSONDocument(extendedJSON: tree) else { continue }
            _ = document.encoded()
        }
    }
}
