import BSON
import Migration

/// The first two bytes say how the rest arrives: the size of the pieces, and whether its name ends in `.bson`.
enum DumpInput {
    static func run(_ bytes: [UInt8], _ claims: inout Claims) {
        guard bytes.count > 2 else { return }
        let size = 1 + Int(bytes[0])
        let source = bytes.dropFirst(2)
        guard let form = SourceForm(firstBytes: source.prefix(64), isNamedBSON: bytes[1] % 2 == 1)
        else { return }
        let whole = events(source, of: form, in: source.count)
        let pieces = events(source, of: form, in: size)
        claims.check(whole.count <= source.count + 1, "there are more events than bytes")
        // The place of a damage may depend on what had arrived; the documents before it do not.
        claims.check(
            whole.compactMap(document) == pieces.compactMap(document),
            "a source has other documents when it arrives in pieces"
        )
    }

    private static func events(
        _ source: ArraySlice<UInt8>,
        of form: SourceForm,
        in size: Int
    ) -> [SourceEvent] {
        var reader = SourceReader(form, of: SourceCollection(database: nil, name: "Task"))
        var events: [SourceEvent] = []
        var rest = source
        while !rest.isEmpty, !reader.hasEnded {
            reader.read(Array(rest.prefix(size))) { events.append($0) }
            rest = rest.dropFirst(size)
        }
        reader.finish { events.append($0) }
        return events
    }

    private static func document(_ event: SourceEvent) -> [UInt8]? {
        guard case .document(let collection, let document, _) = event else { return nil }
        return Array("\(collection.database ?? "").\(collection.name) ".utf8) + document.encoded()
    }
}
