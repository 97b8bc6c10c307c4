internal import Changesets
internal import Documents

/// What a batch of instructions does to the objects of one class, folded to one action for each.
///
/// Instructions on different objects commute, and of those on one object only the net effect reaches
/// the table (local realm, 5).
struct ObjectBatch {
    private(set) var keys: [ColumnValue] = []
    private(set) var actions: [Action] = []
    /// The object must be in the table: an instruction counted on it before any created it.
    private(set) var mustExist: [Bool] = []
    private var positions: [ColumnValue: Int] = [:]
    private var firstAssignments: [Int?] = []
    private var assignments: [Assignment] = []

    enum Action {
        case none
        case update
        /// Create it unless it is there, then set the values.
        case create
        case erase
        /// Erase it if it is there, then create it.
        case recreate
    }

    struct Assignment {
        let column: Int
        var effect: Effect
        fileprivate let next: Int?
    }

    enum Effect {
        case set(ColumnValue)
        /// Adds to an integer; null stays null.
        case add(Int64)
    }

    var isEmpty: Bool { keys.isEmpty }

    mutating func object(_ key: ColumnValue) -> Int {
        if let known = positions[key] { return known }
        let object = keys.count
        positions[key] = object
        keys.append(key)
        actions.append(.none)
        mustExist.append(false)
        firstAssignments.append(nil)
        return object
    }

    /// The assignments of an object, each column at most once.
    func assignments(of object: Int) -> some Sequence<Assignment> {
        sequence(state: firstAssignments[object]) { index in
            guard let current = index else { return nil }
            index = assignments[current].next
            return assignments[current]
        }
    }
}

// MARK: Folding

extension ObjectBatch {
    mutating func create(_ object: Int) {
        switch actions[object] {
        case .none: actions[object] = .create
        case .erase: actions[object] = .recreate
        case .update, .create, .recreate: break  // It exists: nothing happens.
        }
    }

    mutating func erase(_ object: Int) {
        actions[object] = .erase
        firstAssignments[object] = nil
    }

    /// False if the object has been erased before.
    mutating func set(_ object: Int, _ column: Int, to value: ColumnValue) -> Bool {
        guard touch(object) else { return false }
        if let index = assignment(of: object, column) {
            assignments[index].effect = .set(value)
        } else {
            append(.set(value), object, column)
        }
        return true
    }

    /// False if the object has been erased before.
    mutating func add(_ object: Int, _ column: Int, _ amount: Int64) -> Bool {
        guard touch(object) else { return false }
        guard let index = assignment(of: object, column) else {
            append(.add(amount), object, column)
            return true
        }
        switch assignments[index].effect {
        case .set(.integer(let value)): assignments[index].effect = .set(.integer(value &+ amount))
        case .set: break
        case .add(let other): assignments[index].effect = .add(other &+ amount)
        }
        return true
    }

    /// An instruction inside the object needs it to be there.
    private mutating func touch(_ object: Int) -> Bool {
        switch actions[object] {
        case .none:
            actions[object] = .update
            mustExist[object] = true
        case .update, .create, .recreate: break
        case .erase: return false
        }
        return true
    }

    private func assignment(of object: Int, _ column: Int) -> Int? {
        var index = firstAssignments[object]
        while let current = index {
            if assignments[current].column == column { return current }
            index = assignments[current].next
        }
        return nil
    }

    private mutating func append(_ effect: Effect, _ object: Int, _ column: Int) {
        assignments.append(
            Assignment(column: column, effect: effect, next: firstAssignments[object])
        )
        firstAssignments[object] = assignments.count - 1
    }
}

// MARK: Order

extension ObjectBatch {
    /// The objects by ascending key: the table's index is then walked, not jumped about in.
    func objectsByKey() -> [Int] {
        keys.indices.sorted { left, right in
            switch (keys[left], keys[right]) {
            case (.integer(let left), .integer(let right)): left < right
            case (.text(let left), .text(let right)): left.lexicographicallyPrecedes(right)
            case (.null, .null): false
            case (.null, _): true
            default: false
            }
        }
    }
}
