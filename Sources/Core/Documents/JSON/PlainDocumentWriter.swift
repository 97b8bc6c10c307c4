package import Changesets
package import Schemas

/// Writes the objects that plain changesets create as documents, straight from the bytes of a changeset: the
/// same bytes as applying its instructions to new objects, and encoding those.
///
/// In between there is no instruction, no value and no array for each of them: 6.4 -> 4.0 us of CPU at the server
/// for an uploaded object of ten fields, with the one statement for all of them (`Benchmarks/transfer.py`).
package final class PlainDocumentWriter {
    private let schema: RealmSchema
    private let form: JSONForm
    private let required: Text?
    private var classes: [Text: PlainDocumentClass] = [:]
    private var text = TextBuffer()

    /// A record of a few bytes may become a document with a thousand properties: what would be larger than
    /// this in memory is not written.
    private static let heldBytes = 64 << 20
    /// For each document, beside its text.
    private static let overheadInBytes = 64

    /// New documents of one class, by ascending keys.
    package struct Part {
        package let className: Text
        /// The keys, and the places of the documents in the text.
        package fileprivate(set) var places: [(key: ObjectKey, json: Range<Int>)] = []
    }

    /// - Parameter required: the name of a property that each object must set whose class has it.
    package init(_ schema: RealmSchema, requiring required: Text? = nil) {
        self.schema = schema
        self.form = JSONForm(schema: schema)
        self.required = required
    }

    /// The documents, in the text of `withText`; nil if an instruction does not fit, needs more than the
    /// values of the changeset, or does not concern a new object, and for very large changesets.
    package func write(_ changeset: PlainChangeset, limitInBytes: Int = .max) -> [Part]? {
        write(changeset, limitInBytes, to: &text)
    }

    private func write(
        _ changeset: PlainChangeset,
        _ limitInBytes: Int,
        to text: inout TextBuffer
    ) -> [Part]? {
        text.removeAll()
        return changeset.bytes.withUnsafeBufferPointer { bytes in
            var reader = PlainReader(changeset, bytes)
            var object = PlainObject()
            var result: [Part] = []
            var count = 0
            var className: InternIndex?
            // A copy, which is changed without a check for other changes under way: that is a fifth of all.
            var owner: PlainDocumentClass?
            while let isOne = try? reader.read(&object) {
                guard isOne else { return result }
                if className != object.className {
                    className = object.className
                    let name = changeset.strings[object.className]
                    owner = self.owner(name)
                    owner?.begin(changeset.strings)
                    result.append(Part(className: name))
                }
                let start = text.count
                count += 1
                guard start + count * Self.overheadInBytes <= Self.heldBytes else { return nil }
                guard let key = owner?.write(object, changeset.strings, bytes, to: &text),
                    text.count - start <= limitInBytes
                else { return nil }
                result[result.count - 1].places.append((key, start..<text.count))
            }
            return nil
        }
    }

    /// Lends the text of the documents that were written last.
    package func withText<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try text.withBytes(body)
    }

    /// Nil for a class without documents.
    private func owner(_ name: Text) -> PlainDocumentClass? {
        if let known = classes[name] { return known }
        guard let owner = schema[name], case .topLevel = owner.kind else { return nil }
        let new = PlainDocumentClass(owner, form, required: required)
        classes[name] = new
        return new
    }
}
