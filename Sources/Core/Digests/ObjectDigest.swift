import Changesets

/// SHA-256 of an object's canonical bytes.
package struct ObjectDigest: Hashable, Sendable {
    let words: [UInt64]

    /// Nil unless there are 32 bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.words = (0..<4).map { word in
            bytes[word * 8..<word * 8 + 8].reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

    /// A row that cannot be read: equal to no object of the other end.
    package static let unreadable = ObjectDigest(words: [0, 0, 0, 0])

    private init(words: [UInt64]) {
        self.words = words
    }

    package var text: String { Self.text(of: words) }

    static func text(of words: [UInt64]) -> String {
        Hexadecimal.text(
            of: words.flatMap { word in withUnsafeBytes(of: word.bigEndian) { Array($0) } }
        )
    }
}

/// The function that turns canonical bytes into 32 bytes: SHA-256.
package typealias Hash = @Sendable ([UInt8]) -> [UInt8]
