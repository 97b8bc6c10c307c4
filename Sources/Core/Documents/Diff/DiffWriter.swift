import Changesets
import Schemas

/// Walks two values side by side, and writes the differences.
struct DiffWriter {
    let diff: ValueDiff
    let object: ObjectReference
    let field: Text
    var changeset = ChangesetWriter()
    private var path: [ChangesetWriter.Step] = []
    /// Inside a new value a counter is set like any other number.
    private var isInsideNew = false

    init(diff: ValueDiff, object: ObjectReference, field: Text) {
        self.diff = diff
        self.object = object
        self.field = field
    }

    private var schema: RealmSchema { diff.schema }

    /// The end of the path, if it is a single value.
    enum Slot {
        case property
        /// Under a dictionary key.
        case member
        /// An element of a list of that size.
        case element(size: Int)
    }
}

// MARK: Properties

extension DiffWriter {
    /// A property of the object itself or of one embedded in it.
    mutating func write(
        _ old: Value,
        _ new: Value,
        _ property: PropertySchema,
        of className: Text
    ) {
        guard old != new else { return }
        switch (old, new) {
        case (.list(let old), .list(let new)) where property.collection == .list:
            writeList(old, new, element(of: property))
        case (.set(let old), .set(let new)):
            writeSet(old, new, element(of: property))
        case (.dictionary(let old), .dictionary(let new))
        where property.collection == .dictionary:
            writeDictionary(old, new, element(of: property))
        case (.scalar(.int(let old)), .scalar(.int(let new)))
        where !isInsideNew
            && diff.counters.contains(.init(className: className, property: property.name)):
            changeset.addInteger(object, field, path: path, amount: new &- old)
        default:
            writeSlot(old, new, element(of: property), .property)
        }
    }

    /// A property of a newly created object.
    mutating func writeInitial(_ value: Value, _ property: PropertySchema) {
        insideNew { $0.write(property.defaultValue, value, property, of: $0.object.className) }
    }

    /// A property of an object whose other state is unknown.
    mutating func replace(with new: Value, _ property: PropertySchema) {
        let element = element(of: property)
        switch new {
        case .list(let elements):
            changeset.clear(object, field, path: path, .list)
            insert(elements, element)
        case .set(let set):
            changeset.clear(object, field, path: path, .set)
            for value in set.elements { changeset.setInsert(object, field, path: path, value) }
        case .dictionary(let members):
            changeset.clear(object, field, path: path, .dictionary)
            writeDictionary([:], members, element)
        case .object:
            assign(.scalar(.null), .property)
            writeSlot(.null, new, element, .property)
        case .scalar(let scalar):
            let equalValue = EqualValue(isMixed: element == .mixed, isElement: false)
            if equalValue.dependsOnOldValue(scalar) {
                changeset.makeUnequal(object, field, path: path, to: scalar)
            }
            assign(new.content, .property)
        }
    }

    private func element(of property: PropertySchema) -> ElementType {
        guard let element = schema.elementType(of: property) else {
            preconditionFailure("a property links to a class that is not in the schema")
        }
        return element
    }

    /// The properties of an embedded object: single values first, as in the object around it.
    private mutating func writeProperties(
        _ old: Document,
        _ new: Document,
        of owner: ClassSchema
    ) {
        for isCollection in [false, true] {
            for (position, property) in owner.properties.enumerated()
            where (property.collection != .single) == isCollection {
                inside(.string(property.name)) {
                    $0.write(old.values[position], new.values[position], property, of: owner.name)
                }
            }
        }
    }
}

// MARK: Single values

extension DiffWriter {
    /// An existing value, in a slot of its own.
    mutating func writeSlot(_ old: Value, _ new: Value, _ element: ElementType, _ slot: Slot) {
        guard old != new else { return }
        switch (old, new) {
        case (.list(let old), .list(let new)):
            writeList(old, new, element)
        case (.dictionary(let old), .dictionary(let new)):
            writeDictionary(old, new, element)
        case (.object(let old), .object(let new)):
            guard let owner = embeddedClass(element) else { return }
            writeProperties(old, new, of: owner)
        default:
            if old.mustGiveWay(to: new, isMixed: element == .mixed, isElement: slot.isElement) {
                replace(with: new, slot)
            } else {
                assign(new.content, slot)
            }
            fill(new, element)
        }
    }

    /// The content of a newly created collection or embedded object.
    private mutating func fill(_ value: Value, _ element: ElementType) {
        switch value {
        case .scalar, .set:
            break
        case .list(let elements):
            insert(elements, element)
        case .dictionary(let members):
            writeDictionary([:], members, element)
        case .object(let document):
            guard let owner = embeddedClass(element) else { return }
            insideNew { $0.writeProperties(Document(defaultsOf: owner), document, of: owner) }
        }
    }

    private func embeddedClass(_ element: ElementType) -> ClassSchema? {
        guard case .embedded(let className) = element else { return nil }
        return schema[className]
    }

    private mutating func assign(_ content: ChangesetWriter.Content, _ slot: Slot) {
        switch slot {
        case .property, .member:
            changeset.update(object, field, path: path, to: content)
        case .element(let size):
            changeset.updateElement(
                object,
                field,
                path: path,
                to: content,
                priorSize: UInt32(clamping: size)
            )
        }
    }

    /// Replaces a value for which a plain Update would not be enough.
    private mutating func replace(with new: Value, _ slot: Slot) {
        switch slot {
        case .property:
            if case .scalar(let scalar) = new {
                changeset.makeUnequal(object, field, path: path, to: scalar)
            }
            assign(new.content, slot)
        case .member:
            assign(.erased, slot)
            assign(new.content, slot)
        case .element(let size):
            changeset.replaceElement(
                object,
                field,
                path: path,
                with: new.content,
                priorSize: UInt32(clamping: size)
            )
        }
    }

    private mutating func insideNew(_ body: (inout DiffWriter) -> Void) {
        let wasInsideNew = isInsideNew
        isInsideNew = true
        body(&self)
        isInsideNew = wasInsideNew
    }

    private mutating func inside(
        _ step: ChangesetWriter.Step,
        _ body: (inout DiffWriter) -> Void
    ) {
        path.append(step)
        body(&self)
        path.removeLast()
    }
}

// MARK: Collections

extension DiffWriter {
    private mutating func writeSet(_ old: ValueSet, _ new: ValueSet, _ element: ElementType) {
        if new.isEmpty {
            changeset.clear(object, field, path: path, .set)
            return
        }
        // An equal number of another type is replaced, too: otherwise the existing one would stay.
        let (before, after) = (Set(old.elements), Set(new.elements))
        changeset.edit(
            set: object,
            field,
            path: path,
            erasing: old.elements.filter { !after.contains($0) },
            inserting: new.elements.filter { !before.contains($0) },
            result: new,
            isMixed: element == .mixed
        )
    }

    private mutating func writeDictionary(
        _ old: [Text: Value],
        _ new: [Text: Value],
        _ element: ElementType
    ) {
        if new.isEmpty {
            if !old.isEmpty { changeset.clear(object, field, path: path, .dictionary) }
            return
        }
        for key in old.keys.sorted() where new[key] == nil {
            inside(.string(key)) { $0.assign(.erased, .member) }
        }
        for (key, value) in new.sorted(by: { $0.key < $1.key }) {
            inside(.string(key)) { writer in
                if let known = old[key] {
                    writer.writeSlot(known, value, element, .member)
                } else {
                    writer.assign(value.content, .member)
                    writer.fill(value, element)
                }
            }
        }
    }

    private mutating func writeList(_ old: [Value], _ new: [Value], _ element: ElementType) {
        if new.isEmpty {
            if !old.isEmpty { changeset.clear(object, field, path: path, .list) }
            return
        }
        var size = old.count
        for edit in ListEdits(from: old, to: new, mayMove: element.isPlain).edits {
            switch edit {
            case .update(let index, let oldIndex, let newIndex):
                inside(.index(UInt32(clamping: index))) {
                    $0.writeSlot(old[oldIndex], new[newIndex], element, .element(size: size))
                }
            case .insert(let index, let newIndex):
                insert(new[newIndex], at: index, size: &size, element)
            case .erase(let index):
                changeset.arrayErase(
                    object,
                    field,
                    path: path + [.index(UInt32(clamping: index))],
                    priorSize: UInt32(clamping: size)
                )
                size -= 1
            case .move(let from, let to):
                changeset.arrayMove(
                    object,
                    field,
                    path: path + [.index(UInt32(clamping: from))],
                    to: UInt32(clamping: to),
                    priorSize: UInt32(clamping: size)
                )
            }
        }
    }

    /// All elements of an empty list.
    private mutating func insert(_ elements: [Value], _ element: ElementType) {
        var size = 0
        for (index, value) in elements.enumerated() {
            insert(value, at: index, size: &size, element)
        }
    }

    private mutating func insert(
        _ value: Value,
        at index: Int,
        size: inout Int,
        _ element: ElementType
    ) {
        let priorSize = UInt32(clamping: size)
        inside(.index(UInt32(clamping: index))) { writer in
            writer.changeset.arrayInsert(
                writer.object,
                writer.field,
                path: writer.path,
                value.content,
                priorSize: priorSize
            )
            writer.fill(value, element)
        }
        size += 1
    }
}

extension DiffWriter.Slot {
    fileprivate var isElement: Bool {
        if case .property = self { false } else { true }
    }
}

extension ElementType {
    /// Without structure: such elements can be moved, since they are the same at any position.
    fileprivate var isPlain: Bool {
        switch self {
        case .scalar, .link: true
        case .mixed, .embedded: false
        }
    }
}

extension Value {
    /// The instruction's value without the content of collections, which follows.
    var content: ChangesetWriter.Content {
        switch self {
        case .scalar(let scalar): .scalar(scalar)
        case .list: .list
        case .dictionary: .dictionary
        case .object: .objectValue
        case .set: preconditionFailure("a set cannot be an element")
        }
    }
}
