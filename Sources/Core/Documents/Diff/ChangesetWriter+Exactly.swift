package import Changesets

/// Forms of a write that every receiver applies alike, for cases in which the plain one does not
/// work (instruction semantics, 3.15 to 3.17).
extension ChangesetWriter {
    /// Removes values from a set and adds others.
    ///
    /// Receivers refuse to erase null from a typed set, so the set is then emptied and filled again
    /// with `result`, its final content.
    package mutating func edit(
        set object: ObjectReference,
        _ field: Text,
        path: [Step],
        erasing erased: [Scalar],
        inserting inserted: [Scalar],
        result: ValueSet,
        isMixed: Bool
    ) {
        guard isMixed || !erased.contains(.null) else {
            clear(object, field, path: path, .set)
            for value in result.elements { setInsert(object, field, path: path, value) }
            return
        }
        for value in erased { setErase(object, field, path: path, value) }
        for value in inserted { setInsert(object, field, path: path, value) }
    }

    /// Writes another value to a property first, so that a value that may equal the existing one is
    /// stored in its own representation.
    package mutating func makeUnequal(
        _ object: ObjectReference,
        _ field: Text,
        path: [Step],
        to new: Scalar
    ) {
        let other: Scalar =
            switch new {
            case .float: .float(FloatBits(1))
            case .double: .double(DoubleBits(1))
            // Only Mixed keeps an equal decimal, and Mixed can be null.
            default: .null
            }
        update(object, field, path: path, to: .scalar(other))
    }

    /// Replaces an element in a list of that size.
    package mutating func replaceElement(
        _ object: ObjectReference,
        _ field: Text,
        path: [Step],
        with content: Content,
        priorSize: UInt32
    ) {
        arrayErase(object, field, path: path, priorSize: priorSize)
        arrayInsert(object, field, path: path, content, priorSize: priorSize &- 1)
    }
}

extension Value {
    /// Whether the plain Update from this value to another one would leave receivers with a
    /// different result: the old representation, or the backlinks of a nested collection that was
    /// replaced.
    package func mustGiveWay(to new: Value, isMixed: Bool, isElement: Bool) -> Bool {
        switch (self, new) {
        case (.scalar(let old), .scalar(let new)):
            EqualValue(isMixed: isMixed, isElement: isElement).keeps(old, over: new)
        case (.list, .list), (.dictionary, .dictionary): false
        case (.list, _), (.dictionary, _): isElement && holdsLinks
        case (.scalar, _), (.set, _), (.object, _): false
        }
    }

    private var holdsLinks: Bool {
        switch self {
        case .scalar(.link): true
        case .scalar: false
        case .list(let elements): elements.contains(where: \.holdsLinks)
        case .set(let set): set.elements.contains { Value.scalar($0).holdsLinks }
        case .dictionary(let members): members.values.contains(where: \.holdsLinks)
        case .object(let document): document.values.contains(where: \.holdsLinks)
        }
    }
}
