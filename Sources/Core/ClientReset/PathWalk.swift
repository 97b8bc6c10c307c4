import Changesets
import Documents
import Schemas

/// Follows the path of a recovered change through the server's state (client reset, 7.2,
/// "Path problems").
struct PathWalk {
    /// The same path in the server's state; the index at its end is still the local one, if the
    /// list is tracked.
    private(set) var path: [PathElement]
    private(set) var end: End

    /// The target at the end of the path.
    enum End {
        case field(isInteger: Bool)
        /// An element of a list of that size; nil for a list that only the recovery has written.
        case element(size: Int, place: ListPlace?)
        case member(exists: Bool)
    }

    enum Outcome {
        case arrived(PathWalk, acceptsNull: Bool)
        case discard(DiscardedChange.Reason)
        /// The path leads through an element whose position in that list is unknown.
        case unknownElement(ListPlace)
    }

    private init(path: [PathElement]) {
        self.path = path
        self.end = .field(isInteger: false)
    }

    static func walk(
        _ target: Instruction.PathTarget,
        of changeset: Changeset,
        in document: Document,
        _ schema: RealmSchema,
        trackers: [ListPlace: ListTracker]
    ) throws(BadInstruction) -> Outcome {
        let object = changeset.reference(target.object)
        let field = changeset.text(target.field)
        guard let owner = schema[object.className] else {
            throw BadInstruction(.unknownClass(object.className))
        }
        guard let position = owner.position(of: field) else {
            throw BadInstruction(.unknownProperty(field, in: owner.name))
        }
        var walk = PathWalk(path: target.path)
        var property = owner.properties[position]
        var isElement = false
        var value = document.values[position]
        var place: ListPlace? = ListPlace(object: object, field: field, steps: [])
        walk.end = .field(isInteger: value.isInteger)
        for (depth, step) in target.path.enumerated() {
            let isLast = depth == target.path.count - 1
            switch (value, step) {
            case (.list(let elements), .index(let index)):
                isElement = true
                guard !isLast else {
                    walk.end = .element(size: elements.count, place: place)
                    break
                }
                var index = index
                if let known = place {
                    guard let fresh = trackers[known]?.freshIndex(of: index) else {
                        return .unknownElement(known)
                    }
                    index = fresh
                    walk.path[depth] = .index(fresh)
                    // Only the recovery has changed the inside of this element.
                    place = nil
                }
                guard Int(index) < elements.count else { return .discard(.valueHasChangedType) }
                value = elements[Int(index)]
            case (.dictionary(let members), .string(let name)):
                isElement = true
                let key = changeset.text(name)
                place?.steps.append(key)
                let member = members[key]
                guard !isLast else {
                    walk.end = .member(exists: member != nil)
                    break
                }
                guard let member else { return .discard(.keyIsGone) }
                value = member
            case (.object(let embedded), .string(let name)):
                guard case .link(let className) = property.type, let inner = schema[className]
                else {
                    throw BadInstruction(.deadEnd)
                }
                let name = changeset.text(name)
                guard let position = inner.position(of: name) else {
                    throw BadInstruction(.unknownProperty(name, in: className))
                }
                place?.steps.append(name)
                property = inner.properties[position]
                isElement = false
                value = embedded.values[position]
                walk.end = .field(isInteger: value.isInteger)
            case (.scalar(.null), .string) where property.type.isLink:
                return .discard(.embeddedObjectIsGone)
            case (_, _)
            where property.type == .mixed && (property.collection == .single || isElement):
                return .discard(.valueHasChangedType)
            case (.list, .string):
                throw BadInstruction(.expectedIndex)
            case (.dictionary, .index), (.object, .index):
                throw BadInstruction(.expectedKey)
            case (.scalar, _), (.set, _):
                throw BadInstruction(.deadEnd)
            }
        }
        return .arrived(walk, acceptsNull: property.acceptsNull)
    }

    /// Keeps the index inside a list that lacks the discarded elements; false if that is not
    /// possible.
    mutating func clampIndex(of instruction: Instruction, size: Int) -> Bool {
        guard case .index(let index)? = path.last else { return true }
        if case .arrayInsert = instruction {
            setLastIndex(min(index, UInt32(size)))
            return true
        }
        if case .arrayMove(_, let to, _) = instruction, Int(to) >= size { return false }
        return Int(index) < size
    }

    mutating func setLastIndex(_ index: UInt32) {
        path[path.count - 1] = .index(index)
    }
}

extension Value {
    fileprivate var isInteger: Bool {
        if case .scalar(.int) = self { true } else { false }
    }
}

extension PropertyType {
    fileprivate var isLink: Bool {
        if case .link = self { true } else { false }
    }
}
