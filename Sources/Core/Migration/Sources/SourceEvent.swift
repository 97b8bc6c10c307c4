package import BSON

/// A collection as a source names it.
package struct SourceCollection: Hashable, Sendable {
    /// Nil where only a file's name tells the collection.
    package let database: String?
    package let name: String

    package init(database: String?, name: String) {
        self.database = database
        self.name = name
    }

    /// Whether the hosted service or the database keep their own records there.
    package var isInternal: Bool {
        if name.hasPrefix("system.") || name == "oplog" { return true }
        guard let database else { return false }
        return database.hasPrefix("__realm_sync") || database.isEmpty
            || ["admin", "config", "local"].contains(database)
    }
}

/// A part of a source, in its order.
package enum SourceEvent: Sendable {
    /// `offset`: of the document in the source, after decompression.
    case document(SourceCollection, BSONDocument, offset: UInt64)
    /// A line or element that is not a document; the rest of the source is read.
    case unreadable(SourceCollection, problem: String, offset: UInt64)
    /// The rest of the source cannot be read.
    case damaged(problem: String, offset: UInt64)
}

/// The forms of sources (moving an app, 1.2).
package enum SourceForm: Hashable, Sendable {
    case lines
    case array
    case bson
    case archive

    /// Nil if the first bytes are of no known form.
    ///
    /// - Parameters:
    ///   - bytes: at least 8 of them, unless the source is shorter.
    ///   - isNamedBSON: whether the name of the source ends in `.bson`.
    package init?(firstBytes bytes: some Collection<UInt8>, isNamedBSON: Bool) {
        let bytes = Array(bytes.prefix(64))
        if bytes.starts(with: ArchiveReader.magic) {
            self = .archive
            return
        }
        if !isNamedBSON {
            let text = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? bytes.dropFirst(3) : bytes[...]
            switch text.first(where: { ![0x20, 0x09, 0x0a, 0x0d].contains($0) }) {
            case UInt8(ascii: "{"):
                self = .lines
                return
            case UInt8(ascii: "["):
                self = .array
                return
            default: break
            }
            guard bytes.count >= 4 else { return nil }
            let length = bytes.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            guard (BSONLimits.smallestDocument...BSONLimits.largestDocument).contains(length)
            else { return nil }
        }
        self = .bson
    }
}
