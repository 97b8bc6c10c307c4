package import Changesets
package import Documents
package import Scopes

/// A document as an object of its class.
package struct ImportedObject: Sendable {
    package let object: ObjectReference
    /// Nil for an object of flexible sync.
    package let partition: Partition?
    package let document: Document
    package let counts: ConversionCounts
    /// The objects that it links to, repeated ones included.
    package let links: [ObjectReference]
    /// Names of fields without a property, in order.
    package let droppedPaths: [String]
}
