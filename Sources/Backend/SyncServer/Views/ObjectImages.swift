import Changesets
import Documents
import Query
import Schemas
import ServerStore

/// An object as far as an image has it.
struct ObjectImage {
    let object: DocumentObject
    /// The positions of the properties that were not queryable when the image was made.
    let missing: Set<Int>
}

/// Images of objects: their queryable fields, as JSON objects (flexible sync, 13.2).
struct ObjectImages {
    private let schema: RealmSchema
    private let form: JSONForm
    private let file: ServerFileID
    private let settings: FlexibleSettings

    init(_ schema: RealmSchema, of file: ServerFileID, _ settings: FlexibleSettings) {
        self.schema = schema
        self.form = JSONForm(schema: schema)
        self.file = file
        self.settings = settings
    }

    /// The image of an object of a class.
    func image(of document: Document, _ owner: ClassSchema) -> [UInt8] {
        var values: [Int: Value] = [:]
        for (position, property) in owner.properties.enumerated()
        where settings.isRecorded(property, of: owner, in: schema) {
            values[position] = document.values[position]
        }
        return form.encodeMembers(values, of: owner)
    }

    /// The object as queries read it; fields that the image lacks have their defaults.
    func object(_ image: [UInt8], _ object: ObjectReference) throws(StoreError) -> ObjectImage? {
        guard let owner = schema[object.className] else { return nil }
        var document = Document(defaultsOf: owner)
        var missing = Set(owner.properties.indices)
        do throws(FormError) {
            for (position, value) in try form.decodeMembers(image, of: owner).values {
                document.values[position] = value
                missing.remove(position)
            }
        } catch {
            throw StoreError.damagedObject(of: object.className, in: file, error)
        }
        return ObjectImage(
            object: DocumentObject(key: object.key, document, of: owner),
            missing: missing
        )
    }

    /// Whether the image has all fields that are queryable now.
    func isUpToDate(_ image: ObjectImage, of className: Text) -> Bool {
        guard let owner = schema[className] else { return true }
        return image.missing.allSatisfy {
            !settings.isQueryable(owner.properties[$0], of: owner, in: schema)
        }
    }

    /// A stored document as queries read it.
    func object(
        document json: [UInt8],
        _ object: ObjectReference
    ) throws(StoreError) -> DocumentObject? {
        guard let owner = schema[object.className] else { return nil }
        let document = try form.decodeStored(json, of: owner, in: file)
        return DocumentObject(key: object.key, document, of: owner)
    }
}
