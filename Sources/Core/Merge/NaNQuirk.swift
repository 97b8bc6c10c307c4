import Changesets

/// QUIRK D-NaN (merge rules, 3): the reference detects a changed instruction by IEEE comparison, so
/// one with NaN always counts as changed once it has met another. Its changeset becomes dirty, and
/// the reciprocal is stored again with the same instructions.
enum NaNQuirk {
    /// The changesets of ours that become dirty for no other reason, by their number.
    static func dirtyChangesets(of ours: Side, against theirs: Side) -> Set<Int> {
        guard ours.containsNaN, !theirs.operations.isEmpty else { return [] }
        var groups = ConflictGroups(
            concernEverything: ours.erasesSchema || theirs.erasesSchema
        )
        for operation in ours.operations + theirs.operations {
            groups.add(operation)
        }
        var groupsOfTheirs: Set<ObjectNumber> = []
        for operation in theirs.operations where operation.place.object != .none {
            groupsOfTheirs.insert(groups.representative(of: operation.place.object))
        }
        var changesets: Set<Int> = []
        for operation in ours.operations where operation.containsNaN {
            if groups.concernEverything
                || groupsOfTheirs.contains(groups.representative(of: operation.place.object))
            {
                changesets.insert(operation.origin.changeset)
            }
        }
        return changesets
    }
}

/// The reference's partition of objects: linked ones are in one group (merge rules, 3.3).
private struct ConflictGroups {
    private var parents: [ObjectNumber: ObjectNumber] = [:]
    /// Whether some class or column is erased: then everything meets everything.
    let concernEverything: Bool

    init(concernEverything: Bool) {
        self.concernEverything = concernEverything
    }

    mutating func add(_ operation: Operation) {
        guard let linked = operation.content?.linkedObject, linked != .none else { return }
        let root = representative(of: operation.place.object)
        parents[root] = representative(of: linked)
    }

    mutating func representative(of object: ObjectNumber) -> ObjectNumber {
        var object = object
        while let parent = parents[object], parent != object {
            if let grandparent = parents[parent] { parents[object] = grandparent }
            object = parent
        }
        return object
    }
}

extension Operation {
    var containsNaN: Bool { content?.payload.isNaN ?? false }
}

extension Payload {
    var isNaN: Bool {
        switch self {
        case .float(let bits): bits.value.isNaN
        case .double(let bits): bits.value.isNaN
        default: false
        }
    }
}
