/// Many updates of one object, one after the other.
extension ChangesetWriter {
    /// The beginning that the records of all updates of one object share.
    package struct UpdatesOfObject {
        fileprivate let beginning: [UInt8]
    }

    /// Creates an object whose fields are set next.
    package mutating func createObjectForUpdates(_ object: ObjectReference) -> UpdatesOfObject {
        createObject(object)
        return UpdatesOfObject(beginning: encoder.beginning(ofUpdatesOf: target(object)))
    }

    /// Sets a field of the object.
    package mutating func update(
        _ field: Text,
        _ updates: inout UpdatesOfObject,
        to scalar: Scalar
    ) {
        let field = internField(field)
        encoder.writeUpdate(of: field, updates.beginning, to: payload(scalar))
        instructionCount += 1
    }

    /// Sets a field of the object to a string.
    package mutating func update(
        _ field: Text,
        _ updates: inout UpdatesOfObject,
        toString text: UnsafeBufferPointer<UInt8>
    ) {
        let field = internField(field)
        encoder.writeUpdate(of: field, updates.beginning, toString: text)
        instructionCount += 1
    }
}
