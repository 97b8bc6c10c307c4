/// A string of the sync formats: bytes that should be UTF-8 but need not be.
///
/// Names, keys and string values are compared bytewise everywhere (changesets spec, 2.4 and 3), so
/// `String`, whose equality folds canonically equivalent spellings, cannot replace it.
public struct Text: Hashable, Sendable {
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    public init(_ string: some StringProtocol) {
        self.bytes = Array(string.utf8)
    }

    /// The same text as a `String`, or nil if the bytes are not UTF-8.
    public var string: String? {
        String(validating: bytes, as: UTF8.self)
    }

    package static let empty = Text(bytes: [])

    /// All bytes at once: an array hashes its elements one by one, and names are looked up often.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(bytes.count)
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}

extension Text: Comparable {
    /// Bytewise order, a shorter prefix first.
    public static func < (left: Text, right: Text) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

extension Text: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) {
        self.init(value)
    }
}

extension Text: CustomStringConvertible {
    /// For people: invalid bytes show as U+FFFD.
    public var description: String {
        String(decoding: bytes, as: UTF8.self)
    }
}
