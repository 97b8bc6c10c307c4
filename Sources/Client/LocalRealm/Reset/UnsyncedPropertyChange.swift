internal import Changesets
internal import Documents
internal import Schemas

/// The change that unsynced changesets made to one property of an object, so that it can be applied
/// to a value that has changed since (client reset, 3).
enum UnsyncedPropertyChange: Hashable {
    /// The last value of the object replaces it.
    case set
    /// Of a counter.
    case add(Int64)
    /// To the end of a list: all elements from this position on.
    case append(from: Int)
    case elements(added: ValueSet, removed: ValueSet)
    /// Of a dictionary: the keys get their last values.
    case members(Set<Text>)
}

extension UnsyncedPropertyChange {
    /// Combines an instruction with an earlier change; combinations that cannot be separated are
    /// `.set`.
    init(
        _ before: UnsyncedPropertyChange?,
        _ instruction: Instruction,
        at target: Instruction.PathTarget,
        of changeset: Changeset,
        _ property: PropertySchema?
    ) {
        self =
            switch property?.collection {
            case .single: Self.single(before, instruction, target)
            case .list: Self.list(before, instruction, target)
            case .set: Self.set(before, instruction, target, changeset)
            case .dictionary: Self.dictionary(before, target, changeset)
            case nil: .set
            }
    }

    private static func single(
        _ before: UnsyncedPropertyChange?,
        _ instruction: Instruction,
        _ target: Instruction.PathTarget
    ) -> UnsyncedPropertyChange {
        guard case .addInteger(_, let amount) = instruction, target.path.isEmpty else {
            return .set
        }
        switch before {
        case nil: return .add(amount)
        case .add(let earlier): return .add(earlier &+ amount)
        case .set, .append, .elements, .members: return .set
        }
    }

    private static func list(
        _ before: UnsyncedPropertyChange?,
        _ instruction: Instruction,
        _ target: Instruction.PathTarget
    ) -> UnsyncedPropertyChange {
        guard case .index(let index)? = target.path.first else { return .set }
        let place = Int(index)
        switch (before, instruction) {
        case (nil, .arrayInsert(_, _, let size)) where index == size && target.path.count == 1:
            return .append(from: place)
        case (.append(let start), .arrayMove(_, let end, _))
        where target.path.count == 1 && Int(end) < start:
            return .set
        // A change behind the old end is a change of an appended element.
        case (.append(let start)?, _) where place >= start:
            return .append(from: start)
        default:
            return .set
        }
    }

    private static func set(
        _ before: UnsyncedPropertyChange?,
        _ instruction: Instruction,
        _ target: Instruction.PathTarget,
        _ changeset: Changeset
    ) -> UnsyncedPropertyChange {
        var (added, removed) = (ValueSet(), ValueSet())
        switch before {
        case nil: break
        case .elements(let earlier, let gone): (added, removed) = (earlier, gone)
        case .set, .add, .append, .members: return .set
        }
        switch instruction {
        case .setInsert(_, let payload) where target.path.isEmpty:
            guard let element = changeset.scalar(payload) else { return .set }
            added.insert(element)
            removed.erase(element)
        case .setErase(let erase) where target.path.isEmpty:
            guard let element = changeset.scalar(erase.payload) else { return .set }
            added.erase(element)
            removed.insert(element)
        default: return .set
        }
        return .elements(added: added, removed: removed)
    }

    private static func dictionary(
        _ before: UnsyncedPropertyChange?,
        _ target: Instruction.PathTarget,
        _ changeset: Changeset
    ) -> UnsyncedPropertyChange {
        guard case .string(let name)? = target.path.first else { return .set }
        let key = changeset.text(name)
        switch before {
        case nil: return .members([key])
        case .members(let keys): return .members(keys.union([key]))
        case .set, .add, .append, .elements: return .set
        }
    }
}
