package import Changesets
package import Versions

/// An object that one entry of a history touched, with its queryable fields before and after (flexible
/// sync, 13.2).
package struct TouchedObject: Hashable, Sendable {
    package let object: ObjectReference
    package let version: ServerVersion
    package let change: Change

    /// Images are JSON objects of the queryable fields.
    package enum Change: Hashable, Sendable {
        case created([UInt8])
        /// No queryable field has another value: the image is stored once.
        case kept([UInt8])
        case changed(from: [UInt8], to: [UInt8])
        case deleted([UInt8])
    }

    package init(object: ObjectReference, version: ServerVersion, change: Change) {
        self.object = object
        self.version = version
        self.change = change
    }

    /// Nil if the object did not exist before.
    package var before: [UInt8]? {
        switch change {
        case .created: nil
        case .kept(let image), .changed(let image, _), .deleted(let image): image
        }
    }

    /// Nil if the object does not exist any more.
    package var after: [UInt8]? {
        switch change {
        case .created(let image), .kept(let image), .changed(_, let image): image
        case .deleted: nil
        }
    }

    /// Roughly its memory.
    package var sizeInBytes: Int {
        128 + (before?.count ?? 0) + (after?.count ?? 0)
    }
}
