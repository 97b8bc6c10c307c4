import Changesets
import Documents
import Schemas
import ServerStore

/// Reads the content of a server file from its documents, as changesets that build it from an empty
/// file (sync history, 16). The schema comes first, then the objects, class by class.
///
/// The caller reads piece by piece, each time from the same state of the store.
struct FileState: Sendable {
    /// A changeset is complete once it is larger than this.
    let changesetSizeInBytes: Int
    private let file: ServerFileID
    /// Nil until the first piece.
    private var schema: RealmSchema?
    /// The classes with objects to read, the current one first.
    private var classes: ArraySlice<ClassSchema> = []
    /// The last key read of the current class.
    private var lastKey: ObjectKey?

    static let usualChangesetSizeInBytes = 1 << 20

    init(of file: ServerFileID, changesetSizeInBytes: Int = Self.usualChangesetSizeInBytes) {
        self.file = file
        self.changesetSizeInBytes = changesetSizeInBytes
    }

    /// The next changeset; nil after the last one. An empty file has none.
    mutating func next(from store: any FileReading) throws(StoreError) -> [UInt8]? {
        var writer = ChangesetWriter()
        if schema == nil {
            let schema = try store.schema(of: file)
            schema.writeAdditions(to: RealmSchema(), into: &writer)
            // Asymmetric objects are only uploaded.
            classes = schema.classes.filter { !$0.isEmbedded && !$0.isAsymmetric }[...]
            self.schema = schema
        }
        guard let schema else { return nil }
        while let owner = classes.first {
            if try read(owner, of: schema, from: store, into: &writer) { return writer.bytes }
            classes.removeFirst()
            lastKey = nil
        }
        return writer.isEmpty ? nil : writer.bytes
    }

    /// Returns true when the changeset is complete, and the class may have more objects.
    private mutating func read(
        _ owner: ClassSchema,
        of schema: RealmSchema,
        from store: any FileReading,
        into writer: inout ChangesetWriter
    ) throws(StoreError) -> Bool {
        var objects = DocumentCopier(of: owner, in: schema)
        var isFull = false
        var last = lastKey
        try store.forEachDocument(of: owner.name, in: file, after: lastKey) {
            key,
            json throws(StoreError) in
            let object = ObjectReference(className: owner.name, key: key)
            do throws(FormError) {
                try objects.copy(json, as: object, into: &writer)
            } catch {
                throw StoreError.damagedObject(of: owner.name, in: file, error)
            }
            last = key
            isFull = writer.sizeInBytes > changesetSizeInBytes
            return isFull ? .stop : .next
        }
        lastKey = last
        return isFull
    }
}
