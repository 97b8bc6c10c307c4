/// The ids and names that peers choose, as far as every store can hold them (server on PostgreSQL, 4).
///
/// PostgreSQL refuses U+0000 in texts, and an entry of an index has about 2 700 bytes at most.
package enum StorableName {
    package static let limitInBytes = 1024

    /// Throws `.unacceptable` for a name that must not be stored.
    package static func check(_ names: String...) throws(StoreError) {
        for name in names {
            guard name.utf8.count <= limitInBytes else {
                throw StoreError(
                    .unacceptable,
                    "a name of \(name.utf8.count) bytes; shorten it to \(limitInBytes) bytes"
                )
            }
            guard !name.utf8.contains(0) else {
                throw StoreError(.unacceptable, "a name contains U+0000; remove it")
            }
        }
    }
}
