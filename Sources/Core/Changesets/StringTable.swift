/// The interned strings of one changeset, in index order, each once (changesets spec, 3).
package struct StringTable: Hashable, Sendable {
    private var entries: [Text] = []
    private var indexes: [Text: InternIndex] = [:]

    package init() {}

    package var count: Int { entries.count }
    package var texts: [Text] { entries }

    /// The string at an index of this table. A parsed changeset holds no index outside its table.
    package subscript(index: InternIndex) -> Text {
        entries[Int(index.rawValue)]
    }

    package func objectKey(_ key: PrimaryKey) -> ObjectKey {
        switch key {
        case .null: .null
        case .int(let value): .int(value)
        case .string(let index): .string(self[index])
        case .objectID(let value): .objectID(value)
        case .uuid(let value): .uuid(value)
        case .globalKey(let value): .globalKey(value)
        }
    }

    package func contains(_ index: InternIndex) -> Bool {
        index.rawValue < entries.count
    }

    package func index(of text: Text) -> InternIndex? {
        indexes[text]
    }

    /// The index of the string; a new string is appended.
    package mutating func intern(_ text: Text) -> InternIndex {
        if let index = indexes[text] { return index }
        let index = InternIndex(UInt32(entries.count))
        indexes[text] = index
        entries.append(text)
        return index
    }
}
