/// A change as both stores have it: a code and one or two images.
extension TouchedObject.Change {
    private enum Code: Int64 {
        case created = 1
        case kept = 2
        case changed = 3
        case deleted = 4
    }

    package var stored: (code: Int64, image: [UInt8], newImage: [UInt8]?) {
        switch self {
        case .created(let new): (Code.created.rawValue, new, nil)
        case .kept(let same): (Code.kept.rawValue, same, nil)
        case .changed(let old, let new): (Code.changed.rawValue, old, new)
        case .deleted(let old): (Code.deleted.rawValue, old, nil)
        }
    }

    /// Nil if the columns do not fit each other: the store is damaged.
    package init?(code: Int64, image: [UInt8], newImage: [UInt8]?) {
        switch Code(rawValue: code) {
        case .created: self = .created(image)
        case .kept: self = .kept(image)
        case .changed:
            guard let newImage else { return nil }
            self = .changed(from: image, to: newImage)
        case .deleted: self = .deleted(image)
        case nil: return nil
        }
    }
}
