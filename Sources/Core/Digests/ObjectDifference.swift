package import Changesets

/// One object of a replica, as it counts in a comparison.
package struct ComparedObject: Hashable, Sendable {
    /// Nil if the key itself cannot be read.
    package let key: ObjectKey?
    package let digest: ObjectDigest
    /// The first eight bytes of each property's digest in hexadecimal, bytewise by name; empty if the
    /// object cannot be read.
    package let properties: String

    package init(key: ObjectKey?, digest: ObjectDigest, properties: String) {
        self.key = key
        self.digest = digest
        self.properties = properties
    }
}

/// An object that is not the same on both ends.
package struct ObjectDifference: Hashable, Sendable {
    package enum Kind: String, Codable, Hashable, Sendable {
        /// Only the server has it.
        case missing
        /// Only the client has it.
        case extra
        case different
        /// The client's row cannot be read.
        case unreadable
    }

    package let className: Text
    package let key: ObjectKey?
    package let kind: Kind
    /// The properties that differ.
    package let properties: [Text]

    /// The differences between the listed objects of one class, by key.
    ///
    /// - Parameter names: the compared properties, bytewise.
    package static func all(
        of className: Text,
        here: [ComparedObject],
        there: [ComparedObject],
        properties names: [Text]
    ) -> [ObjectDifference] {
        var others: [ObjectKey: ComparedObject] = [:]
        for object in there { if let key = object.key { others[key] = object } }
        var differences: [ObjectDifference] = []
        for object in here {
            let other = object.key.flatMap { others.removeValue(forKey: $0) }
            if let other, other.digest == object.digest, object.digest != .unreadable { continue }
            let kind: Kind =
                object.digest == .unreadable ? .unreadable : other == nil ? .extra : .different
            differences.append(
                ObjectDifference(
                    className: className,
                    key: object.key,
                    kind: kind,
                    properties: kind == .different
                        ? differing(names, object.properties, other?.properties ?? "") : []
                )
            )
        }
        for key in others.keys {
            differences.append(
                ObjectDifference(className: className, key: key, kind: .missing, properties: [])
            )
        }
        return differences.sorted { left, right in
            CanonicalForm.bytes(of: left.key ?? .null)
                .lexicographicallyPrecedes(CanonicalForm.bytes(of: right.key ?? .null))
        }
    }

    /// Empty if the texts do not tell.
    private static func differing(_ names: [Text], _ left: String, _ right: String) -> [Text] {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        guard left.count == names.count * 16, right.count == left.count else { return [] }
        return names.indices.filter { index in
            left[index * 16..<index * 16 + 16] != right[index * 16..<index * 16 + 16]
        }.map { names[$0] }
    }
}
