import Changesets

/// The effect of an instruction on a deeper one (merge rules, 5): it may discard it, or shift a
/// list index in its path. The prior size of the inner instruction belongs to another list and
/// never changes.
enum NestedRules {
    /// Applies the rule of outer's kind to inner, whose level is higher.
    static func apply(outer: inout Operation, inner: inout Operation) throws(MergeError.Reason) {
        switch outer.kind {
        case .eraseTable: eraseTable(outer, &inner)
        case .eraseObject: eraseObject(outer, &inner)
        case .update: update(outer, &inner)
        case .addInteger, .clear: discardDeeper(outer, &inner)
        case .arrayInsert: try arrayInsert(outer, &inner)
        case .arrayMove: try arrayMove(&outer, inner)
        case .arrayErase: try arrayErase(outer, &inner)
        case .addTable, .addColumn, .eraseColumn, .createObject, .setInsert, .setErase: break
        }
    }

    /// EraseTable: columns, objects and all inside them are erased with the class.
    private static func eraseTable(_ outer: Operation, _ inner: inout Operation) {
        if outer.hasSameClass(as: inner) { inner.discard() }
    }

    /// EraseObject: everything inside is erased with the object, regardless of the stamps.
    private static func eraseObject(_ outer: Operation, _ inner: inout Operation) {
        if inner.isPathInstruction, outer.hasSameObject(as: inner) { inner.discard() }
    }

    /// Update: a new value replaces everything inside the old one, regardless of the stamps, unless
    /// it is the kind of collection that inner expects. An embedded object leaves inner alone:
    /// creating it again keeps its content.
    private static func update(_ outer: Operation, _ inner: inout Operation) {
        guard case .update(let content, _) = outer.detail,
            let next = outer.nextStep(ofStrictPrefixIn: inner)
        else { return }
        switch (content.payload, next) {
        case (.objectValue, _), (.list, .index), (.dictionary, .string): break
        default: inner.discard()
        }
    }

    /// AddInteger and Clear: nothing is inside a number or an empty collection.
    private static func discardDeeper(_ outer: Operation, _ inner: inout Operation) {
        if outer.nextStep(ofStrictPrefixIn: inner) != nil { inner.discard() }
    }

    /// ArrayInsert: the element that inner goes through moves up.
    private static func arrayInsert(
        _ outer: Operation,
        _ inner: inout Operation
    ) throws(MergeError.Reason) {
        guard let (position, index) = try correspondingIndex(outer, inner) else { return }
        if index >= outer.index { inner.shift(at: position, to: index &+ 1) }
    }

    /// ArrayMove, QUIRK N-MOVE: inner does not follow the element. Instead, the source of the move
    /// changes, as if inner were the one that moves.
    private static func arrayMove(
        _ outer: inout Operation,
        _ inner: Operation
    ) throws(MergeError.Reason) {
        guard let (_, index) = try correspondingIndex(outer, inner) else { return }
        if outer.index == index {
            outer.index = outer.destination
        } else {
            if outer.index > index { outer.index &-= 1 }
            if outer.index >= outer.destination { outer.index &+= 1 }
        }
    }

    /// ArrayErase: what is inside goes with the element; elements behind it move down.
    private static func arrayErase(
        _ outer: Operation,
        _ inner: inout Operation
    ) throws(MergeError.Reason) {
        guard let (position, index) = try correspondingIndex(outer, inner) else { return }
        if index == outer.index {
            inner.discard()
        } else if outer.index < index {
            inner.shift(at: position, to: index &- 1)
        }
    }

    /// The index by which inner's path goes through the list of outer, and its position in that path.
    private static func correspondingIndex(
        _ outer: Operation,
        _ inner: Operation
    ) throws(MergeError.Reason) -> (position: Int, index: UInt32)? {
        guard let position = outer.correspondingPosition(in: inner) else { return nil }
        guard case .index(let index) = inner.container[position] else { throw .listMeetsDictionary }
        return (position, index)
    }
}

extension Operation {
    /// Gives an element of the path, not the last, another index.
    fileprivate mutating func shift(at position: Int, to index: UInt32) {
        container[position] = .index(index)
        isChanged = true
    }
}
