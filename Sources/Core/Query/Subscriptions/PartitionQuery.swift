package import Changesets

/// The query for the objects of one partition, after a switch to flexible sync (flexible sync, 16.1).
package enum PartitionQuery {
    /// `property == value` in canonical text.
    ///
    /// - Parameter value: null, or one of the types that a partition has.
    package static func text(_ property: Text, _ value: QueryValue) -> String {
        let bytes =
            NameText.escaped(property) + Array(" == ".utf8)
            + CanonicalConstant.bytes(value, .column)
        return String(decoding: bytes, as: UTF8.self)
    }
}
