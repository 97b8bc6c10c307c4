/// The place of an object's row in the table of its file.
package struct ObjectRow: Hashable, Sendable {
    /// The class's name as UTF-8.
    package let className: [UInt8]
    package let key: RowKey

    package init(className: [UInt8], storedKey: [UInt8]) {
        self.className = className
        key = RowKey(storedKey: storedKey)
    }

    /// Long keys are compared by their digests.
    package static func == (left: ObjectRow, right: ObjectRow) -> Bool {
        left.key.key == right.key.key && left.className == right.className
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(className)
        hasher.combine(key.key)
    }
}

extension ObjectRow: Comparable {
    /// The order of the table's index.
    package static func < (left: ObjectRow, right: ObjectRow) -> Bool {
        if left.className != right.className {
            return left.className.lexicographicallyPrecedes(right.className)
        }
        return left.key.key.lexicographicallyPrecedes(right.key.key)
    }
}
