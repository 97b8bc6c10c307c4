import Changesets
import Documents
import Query
import Schemas
import ServerStore

/// Images of objects: their queryable fields, as JSON objects (flexible sync, 13.2).
struct ObjectImages {
    private let schema: RealmSchema
    private let form: JSONForm
    private let file: ServerFileID
    private let isQueryable: (Text, Text) -> Bool

    init(_ schema: RealmSchema, of file: ServerFileID, _ settings: FlexibleSettings) {
        self.schema = schema
        self.form = JSONForm(schema: schema)
        self.file = file
        self.isQueryable = settings.isQueryable
    }

    /// The image of an object of a class.
    func image(of document: Document, _ owner: ClassSchema) -> [UInt8] {
        var values: [Int: Value] = [:]
        for (position, property) in owner.properties.enumerated()
        where schema.obstacleToQueries(on: property) == nil
            && isQueryable(owner.name, property.name)
        {
            values[position] = document.values[position]
        }
        return form.encodeMembers(values, of: owner)
    }

    /// The object as queries read it; fields that the image lacks have their defaults.
    func object(_ image: [UInt8], _ object: ObjectReference) throws(StoreError) -> DocumentObject? {
        guard let owner = schema[object.className] else { return nil }
        do throws(FormError) {
            var document = Document(defaultsOf: owner)
            for (position, value) in try form.decodeMembers(image, of: owner).values {
                document.values[position] = value
            }
            return DocumentObject(key: object.key, document, of: owner)
        } catch {
            throw StoreError.damagedObject(of: object.className, in: file, error)
        }
    }

    /// A stored document as queries read it.
    func object(
        document json: [UInt8],
        _ object: ObjectReference
    ) throws(StoreError) -> DocumentObject? {
        guard let owner = schema[object.className] else { return nil }
        do throws(FormError) {
            return DocumentObject(
                key: object.key,
                try form.decodeDocument(json, of: owner),
                of: owner
            )
        } catch {
            throw StoreError.damagedObject(of: object.className, in: file, error)
        }
    }
}
