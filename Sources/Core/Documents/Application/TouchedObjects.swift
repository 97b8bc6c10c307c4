import Changesets
import Schemas

/// The objects that a batch of instructions touches, in their resulting state. It has no store: the
/// owner of one reads for it and writes the results.
struct TouchedObjects {
    var entries: [Entry] = []
    private var positions = EntryPositions()
    private var focus: Focus?

    init(expectsNewObjects: Bool) {
        self.expectsNewObjects = expectsNewObjects
    }

    /// The known state of an object.
    struct Entry {
        let object: ObjectReference
        var state = State.unread
        /// The content of a read or written object; not part of the state, so that it is changed in
        /// place.
        var document = Document(values: [])

        enum State {
            case unread
            case read
            case missing
            case written
            /// Written, and not read before: expected to be new.
            case added
            case erased
        }
    }

    /// The object of the previous instruction: the next one usually has the same.
    struct Focus {
        let target: Instruction.ObjectTarget
        let entry: Int
        let classPosition: Int
    }

    /// Whether an object that begins with its creation is taken for new, without reading it.
    let expectsNewObjects: Bool

    /// Call it before the instructions of each changeset, which has its own strings.
    mutating func beginChangeset() {
        focus = nil
    }

    mutating func removeAll() {
        entries = []
        positions = EntryPositions()
        focus = nil
    }

    /// Neighbours in the store are written one after the other; most uploads have that order already.
    var entriesInReadingOrder: [Entry] {
        let isInOrder = zip(entries, entries.dropFirst()).allSatisfy {
            $0.object.precedes($1.object)
        }
        return isInOrder ? entries : entries.sorted { $0.object.precedes($1.object) }
    }

    /// Supplies the store's object that `apply` asked to be read.
    mutating func setRead(_ document: Document?, at entry: Int) {
        entries[entry].state = document == nil ? .missing : .read
        if let document { entries[entry].document = document }
    }

    /// Applies an instruction. If its object must be read first, nothing is changed, and the
    /// position of the object's entry is returned.
    mutating func apply(
        _ instruction: Instruction,
        _ editor: inout InstructionEditor
    ) throws(BadInstruction) -> Int? {
        switch instruction {
        case .createObject(let target):
            let found = try find(target, &editor)
            switch entries[found.entry].state {
            case .unread where expectsNewObjects:
                entries[found.entry].document = editor.resolver.newDocument(of: found.classPosition)
                entries[found.entry].state = .added
            case .unread: return found.entry
            case .read, .written, .added: break
            case .missing, .erased:
                entries[found.entry].document = editor.resolver.newDocument(of: found.classPosition)
                entries[found.entry].state = .written
            }
            return nil
        case .eraseObject(let target):
            let found = try find(target, &editor)
            entries[found.entry].state = .erased
            entries[found.entry].document = Document(values: [])
            return nil
        case .update(let update) where update.target.path.isEmpty:
            return try change(update.target, &editor) {
                (editor, property, value) throws(BadInstruction) in
                try editor.update(property, to: update.payload, &value)
            }
        default:
            guard let edit = Edit(instruction) else {
                preconditionFailure("\(instruction.code) is not a change to an object")
            }
            return try change(edit.target, &editor) {
                (editor, property, value) throws(BadInstruction) in
                try editor.apply(edit, property, to: &value)
            }
        }
    }

    /// The known state of a path instruction's property.
    enum LookUp {
        /// The object of the entry at that position must be read first.
        case unread(Int)
        /// There is no such object.
        case missing
        case found(ResolvedProperty, Value)
    }

    mutating func lookUp(
        _ target: Instruction.PathTarget,
        _ editor: inout InstructionEditor
    ) throws(BadInstruction) -> LookUp {
        let found = try find(target.object, &editor)
        switch entries[found.entry].state {
        case .unread: return .unread(found.entry)
        case .missing, .erased: return .missing
        case .read, .written, .added: break
        }
        let property = try editor.resolver.property(target.field, of: found.classPosition)
        return .found(property, entries[found.entry].document.values[property.position])
    }

    /// The object with all changes; nil if it was not read.
    func known(_ object: ObjectReference) -> Document?? {
        guard let position = positions[object] else { return nil }
        switch entries[position].state {
        case .unread: return nil
        case .missing, .erased: return .some(nil)
        case .read, .written, .added: return entries[position].document
        }
    }

    /// Lends the value of a property to the body.
    private mutating func change(
        _ target: Instruction.PathTarget,
        _ editor: inout InstructionEditor,
        _ body: (
            inout InstructionEditor, ResolvedProperty, inout Value
        ) throws(BadInstruction) -> Void
    ) throws(BadInstruction) -> Int? {
        let found = try find(target.object, &editor)
        switch entries[found.entry].state {
        case .unread: return found.entry
        case .read, .written, .added: break
        case .missing, .erased:
            let className = editor.schema.classes[found.classPosition].name
            throw BadInstruction(.missingObject(className))
        }
        let property = try editor.resolver.property(target.field, of: found.classPosition)
        try body(&editor, property, &entries[found.entry].document.values[property.position])
        if entries[found.entry].state != .added { entries[found.entry].state = .written }
        return nil
    }

    @inline(__always)
    mutating func find(
        _ target: Instruction.ObjectTarget,
        _ editor: inout InstructionEditor
    ) throws(BadInstruction) -> Focus {
        if let focus, focus.target.isSame(as: target) { return focus }
        return try findAnother(target, &editor)
    }

    private mutating func findAnother(
        _ target: Instruction.ObjectTarget,
        _ editor: inout InstructionEditor
    ) throws(BadInstruction) -> Focus {
        let (classPosition, object) = try editor.resolver.object(target)
        let entry = positions.position(
            of: object,
            ofClassAt: classPosition,
            orAdd: entries.count
        )
        if entry == entries.count { entries.append(Entry(object: object)) }
        let found = Focus(target: target, entry: entry, classPosition: classPosition)
        focus = found
        return found
    }
}

extension ObjectReference {
    fileprivate func precedes(_ other: ObjectReference) -> Bool {
        readingOrder(to: other) == .ascending
    }
}

extension Instruction.ObjectTarget {
    /// The same as `==`, which is a call of another module: this runs for each instruction.
    @inline(__always)
    fileprivate func isSame(as other: Self) -> Bool {
        guard className.rawValue == other.className.rawValue else { return false }
        if case .int(let own) = key, case .int(let key) = other.key { return own == key }
        return key == other.key
    }
}
