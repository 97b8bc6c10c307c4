/// The primary key of an object, independent of any changeset's string table.
package enum ObjectKey: Hashable, Sendable {
    /// Untyped: the one null key of a class whose key is nullable.
    case null
    case int(Int64)
    case string(Text)
    case objectID(ObjectID)
    case uuid(UniqueID)
    case globalKey(GlobalKey)
}

/// The target of a link: a class and a key in it, whether or not such an object exists.
package struct ObjectReference: Hashable, Sendable {
    package let className: Text
    package let key: ObjectKey

    package init(className: Text, key: ObjectKey) {
        self.className = className
        self.key = key
    }
}
