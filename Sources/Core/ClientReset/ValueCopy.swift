import Changesets
import Documents
import Schemas

/// Makes one value equal to another and records how, with as few instructions as needed (client
/// reset, 5.2).
///
/// Links to objects that do not exist are left out of lists, sets and dictionaries, and are null
/// elsewhere.
struct ValueCopy {
    let object: ObjectReference
    let field: Text
    let schema: RealmSchema
    private(set) var writer: ChangesetWriter
    /// Links that were left out.
    private(set) var missingLinks = 0
    /// Links that were written.
    private(set) var writtenLinks: [ObjectReference] = []
    private let exists: (ObjectReference) throws -> Bool

    init(
        _ object: ObjectReference,
        _ field: Text,
        _ schema: RealmSchema,
        _ writer: ChangesetWriter,
        exists: @escaping (ObjectReference) throws -> Bool
    ) {
        self.object = object
        self.field = field
        self.schema = schema
        self.writer = writer
        self.exists = exists
    }

    typealias Path = [ChangesetWriter.Step]

    /// Makes `value`, a list at the path, equal to the other one.
    mutating func copyList(
        _ source: [Value],
        over value: inout [Value],
        _ property: PropertySchema,
        at path: Path
    ) throws {
        let source = try source.filter { try isPossible($0) }
        let shorter = min(source.count, value.count)
        let prefix = zip(source, value).count(upTo: shorter) { $0 == $1 }
        let rest = shorter - prefix
        let suffix = zip(source.reversed(), value.reversed()).count(upTo: rest) { $0 == $1 }
        let common = rest - suffix
        for index in prefix..<(prefix + common) {
            let place = path + [.index(UInt32(index))]
            try overwrite(source[index], over: &value[index], property, at: place, value.count)
        }
        let start = prefix + common
        while value.count > source.count {
            let last = start + (value.count - source.count) - 1
            let place = path + [.index(UInt32(last))]
            writer.arrayErase(object, field, path: place, priorSize: UInt32(value.count))
            value.remove(at: last)
        }
        while value.count < source.count {
            let index = value.count - suffix
            let place = path + [.index(UInt32(index))]
            let new = source[index]
            let size = UInt32(value.count)
            writer.arrayInsert(object, field, path: place, content(new), priorSize: size)
            var element = empty(new, property)
            try fill(new, over: &element, property, at: place)
            value.insert(element, at: index)
        }
    }

    private mutating func overwrite(
        _ source: Value,
        over element: inout Value,
        _ property: PropertySchema,
        at path: Path,
        _ size: Int
    ) throws {
        guard source != element else { return }
        let isMixed = property.type == .mixed
        if element.mustGiveWay(to: source, isMixed: isMixed, isElement: true) {
            writer.replaceElement(
                object,
                field,
                path: path,
                with: content(source),
                priorSize: UInt32(size)
            )
            element = empty(source, property)
        } else if !source.isSameKind(as: element) || source.isScalar {
            writer.updateElement(
                object,
                field,
                path: path,
                to: content(source),
                priorSize: UInt32(size)
            )
            element = empty(source, property)
        }
        try fill(source, over: &element, property, at: path)
    }

    // MARK: Other values

    /// Makes a value equal that is of the same kind, or was just emptied.
    private mutating func fill(
        _ source: Value,
        over value: inout Value,
        _ property: PropertySchema,
        at path: Path
    ) throws {
        switch (source, value) {
        case (.scalar(let scalar), _):
            if case .link(let link) = scalar { writtenLinks.append(link) }
            value = source
        case (.list(let source), .list(var elements)):
            try copyList(source, over: &elements, property, at: path)
            value = .list(elements)
        case (.set(let source), .set(var elements)):
            try copySet(source, over: &elements, property, at: path)
            value = .set(elements)
        case (.dictionary(let source), .dictionary(var members)):
            try copyDictionary(source, over: &members, property, at: path)
            value = .dictionary(members)
        case (.object(let source), .object(var document)):
            try copyObject(source, over: &document, property, at: path)
            value = .object(document)
        default:
            preconditionFailure("a value is filled from one of another kind")
        }
    }

    private mutating func copyObject(
        _ source: Document,
        over document: inout Document,
        _ property: PropertySchema,
        at path: Path
    ) throws {
        guard case .link(let className) = property.type, let owner = schema[className] else {
            return
        }
        for (position, inner) in owner.properties.enumerated() {
            try assign(
                source.values[position],
                over: &document.values[position],
                inner,
                at: path + [.string(inner.name)],
                isMember: false
            )
        }
    }

    /// A property of an embedded object, or the value of a dictionary's key.
    private mutating func assign(
        _ source: Value,
        over value: inout Value,
        _ property: PropertySchema,
        at path: Path,
        isMember: Bool
    ) throws {
        let source = try isPossible(source) ? source : .null
        guard source != value else { return }
        let isMixed = property.type == .mixed
        if value.mustGiveWay(to: source, isMixed: isMixed, isElement: isMember) {
            if isMember {
                writer.update(object, field, path: path, to: .erased)
            } else if case .scalar(let new) = source {
                writer.makeUnequal(object, field, path: path, to: new)
            }
        }
        if !source.isSameKind(as: value) || source.isScalar {
            writer.update(object, field, path: path, to: content(source))
            value = empty(source, property)
        }
        try fill(source, over: &value, property, at: path)
    }

    private mutating func copySet(
        _ source: ValueSet,
        over elements: inout ValueSet,
        _ property: PropertySchema,
        at path: Path
    ) throws {
        let source = ValueSet(try source.elements.filter { try isPossible(.scalar($0)) })
        let missing = source.elements.filter { !elements.contains($0) }
        for case .link(let link) in missing { writtenLinks.append(link) }
        writer.edit(
            set: object,
            field,
            path: path,
            erasing: elements.elements.filter { !source.contains($0) },
            inserting: missing,
            result: source,
            isMixed: property.type == .mixed
        )
        elements = source
    }

    private mutating func copyDictionary(
        _ source: [Text: Value],
        over members: inout [Text: Value],
        _ property: PropertySchema,
        at path: Path
    ) throws {
        for key in members.keys.sorted() where source[key] == nil {
            writer.update(object, field, path: path + [.string(key)], to: .erased)
            members[key] = nil
        }
        for key in source.keys.sorted() {
            guard let new = source[key] else { continue }
            let place = path + [.string(key)]
            if var member = members[key] {
                try assign(new, over: &member, property, at: place, isMember: true)
                members[key] = member
            } else {
                let new = try isPossible(new) ? new : .null
                writer.update(object, field, path: place, to: content(new))
                var member = empty(new, property)
                try fill(new, over: &member, property, at: place)
                members[key] = member
            }
        }
    }

    // MARK: Parts

    private mutating func isPossible(_ value: Value) throws -> Bool {
        guard case .scalar(.link(let link)) = value, try !exists(link) else { return true }
        missingLinks += 1
        return false
    }

    private func content(_ value: Value) -> ChangesetWriter.Content {
        switch value {
        case .scalar(let scalar): .scalar(scalar)
        case .list, .set: .list
        case .dictionary: .dictionary
        case .object: .objectValue
        }
    }

    /// The place before a value is written: an empty collection, or an object of default values.
    private func empty(_ value: Value, _ property: PropertySchema) -> Value {
        switch value {
        case .scalar: return value
        case .list: return .list([])
        case .set: return .set(ValueSet())
        case .dictionary: return .dictionary([:])
        case .object:
            guard case .link(let name) = property.type, let owner = schema[name] else {
                return value
            }
            return .object(Document(defaultsOf: owner))
        }
    }
}

extension Value {
    fileprivate var isScalar: Bool {
        if case .scalar = self { true } else { false }
    }

    fileprivate func isSameKind(as other: Value) -> Bool {
        switch (self, other) {
        case (.scalar, .scalar), (.list, .list), (.set, .set), (.dictionary, .dictionary),
            (.object, .object):
            true
        case (.scalar, _), (.list, _), (.set, _), (.dictionary, _), (.object, _): false
        }
    }
}

extension Sequence {
    /// The number of elements from the start, up to a limit, that meet the condition.
    fileprivate func count<Left, Right>(
        upTo limit: Int,
        while holds: (Left, Right) -> Bool
    ) -> Int where Element == (Left, Right) {
        var count = 0
        for (left, right) in self {
            guard count < limit, holds(left, right) else { break }
            count += 1
        }
        return count
    }
}
