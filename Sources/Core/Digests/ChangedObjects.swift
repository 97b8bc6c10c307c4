package import Changesets

/// The objects that changesets touch, and whether they touch the schema.
package struct ChangedObjects: Sendable {
    package private(set) var objects: Set<ObjectReference> = []
    package private(set) var hasSchemaChanges = false

    package init() {}

    package mutating func add(_ bytes: [UInt8]) throws(DecodeError) {
        let changeset = try Changeset(decoding: bytes)
        for instruction in changeset.instructions {
            guard let target = instruction.objectTarget else {
                hasSchemaChanges = true
                continue
            }
            objects.insert(changeset.reference(target))
        }
    }
}
