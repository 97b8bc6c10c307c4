import Changesets
import Documents
import Schemas

/// What a server file holds, as changesets that make it out of nothing, made from its documents
/// (sync history, 16).
struct FileState {
    /// A changeset is complete once it is larger than this.
    let changesetSizeInBytes: Int

    static let usualChangesetSizeInBytes = 1 << 20

    init(changesetSizeInBytes: Int = Self.usualChangesetSizeInBytes) {
        self.changesetSizeInBytes = changesetSizeInBytes
    }

    /// Hands over one changeset after the other: schema first, then the objects, class by class. None
    /// at all comes of a file that nobody has written to. Only one is in memory at a time.
    func read(
        _ file: ServerFileID,
        from store: any FileReading,
        _ visit: ([UInt8]) throws(StoreError) -> Void
    ) throws(StoreError) {
        let schema = try store.schema(of: file)
        let form = JSONForm(schema: schema)
        var writer = ChangesetWriter()
        schema.writeAdditions(to: RealmSchema(), into: &writer)
        // Asymmetric objects only ever travel towards the server.
        for owner in schema.classes where !owner.isEmbedded && !owner.isAsymmetric {
            try store.forEachDocument(of: owner.name, in: file) {
                key,
                json throws(StoreError) in
                let object = ObjectReference(className: owner.name, key: key)
                let document: Document
                do throws(FormError) {
                    document = try form.decodeDocument(json, of: owner)
                } catch {
                    throw StoreError.damagedObject(of: owner.name, in: file, error)
                }
                writer.writeObject(document, as: object, of: owner, in: schema)
                if writer.sizeInBytes > changesetSizeInBytes {
                    try visit(writer.bytes)
                    writer = ChangesetWriter()
                }
                return .next
            }
        }
        if !writer.isEmpty { try visit(writer.bytes) }
    }
}

extension StoreError {
    static func damagedObject(
        of className: Text,
        in file: ServerFileID,
        _ error: FormError
    ) -> StoreError {
        StoreError(
            .unusable,
            "an object of class \(className) in server file \(file.rawValue) is damaged: \(error)"
        )
    }
}
