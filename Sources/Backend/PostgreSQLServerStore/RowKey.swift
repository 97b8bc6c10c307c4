internal import Crypto

/// The columns `key` and `long_key` of an object (server on PostgreSQL, 4).
///
/// An entry of an index ends at 2 704 bytes, but a primary key may have 16 MB. So the row of a long key is
/// found by a digest, behind a mark that no stored key begins with.
package struct RowKey: Hashable, Sendable {
    /// The column `key`: the stored key, or the mark and its SHA-256.
    package let key: [UInt8]
    /// The column `long_key`: the stored key that the digest replaces; nil is NULL.
    package let longKey: [UInt8]?

    /// Longer keys are replaced.
    package static let limitInBytes = 512
    private static let mark: UInt8 = 0xfe

    /// The columns for a stored key.
    ///
    /// A stored key begins with a type code or 0xff, never with the mark.
    package init(storedKey: [UInt8]) {
        guard storedKey.count > Self.limitInBytes else {
            key = storedKey
            longKey = nil
            return
        }
        key = [Self.mark] + SHA256.hash(data: storedKey)
        longKey = storedKey
    }

    /// The columns as the database has them; nil if they do not fit each other.
    package init?(key: [UInt8], longKey: [UInt8]?) {
        if let longKey {
            guard RowKey(storedKey: longKey).key == key, longKey.count > Self.limitInBytes else {
                return nil
            }
        } else {
            guard key.first != Self.mark, key.count <= Self.limitInBytes else { return nil }
        }
        self.key = key
        self.longKey = longKey
    }

    package var storedKey: [UInt8] { longKey ?? key }
}
