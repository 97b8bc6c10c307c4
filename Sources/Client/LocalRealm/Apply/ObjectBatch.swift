internal import Changesets
internal import Documents

/// The effect of a batch of instructions on the objects of one class, folded to one action for each
/// object.
///
/// Instructions on different objects commute, as do those on different properties, and of those on
/// one property only the net effect reaches the table (local realm, 5).
struct ObjectBatch {
    private(set) var keys: [ColumnValue] = []
    private(set) var actions: [Action] = []
    /// The instruction that requires the object in the table, before any created it.
    private(set) var neededBy: [InstructionPlace?] = []
    private var positions: [ColumnValue: Int] = [:]
    private var firstAssignments: [Int?] = []
    private var assignments: [Assignment] = []
    private var edits: [Edit] = []

    enum Action {
        case none
        case update
        /// Create it unless it exists, then set the values.
        case create
        case erase
        /// Erase it if it exists, then create it.
        case recreate
    }

    struct Assignment {
        /// Position of the property in its class.
        let property: Int
        var effect: Effect
        fileprivate let next: Int?
    }

    enum Effect {
        case set(ColumnValue)
        /// Adds to an integer; null stays null.
        case add(Int64)
        /// Edits the value of the row, or the one given.
        case edit(base: ColumnValue?, Edits)
    }

    /// A run of instructions on one property.
    struct Edits {
        fileprivate let first: Int
        fileprivate var last: Int
    }

    private struct Edit {
        let place: InstructionPlace
        var next: Int?
    }

    var isEmpty: Bool { keys.isEmpty }

    mutating func object(_ key: ColumnValue) -> Int {
        if let known = positions[key] { return known }
        let object = keys.count
        positions[key] = object
        keys.append(key)
        actions.append(.none)
        neededBy.append(nil)
        firstAssignments.append(nil)
        return object
    }

    /// The assignments of an object, each property at most once.
    func assignments(of object: Int) -> some Sequence<Assignment> {
        sequence(state: firstAssignments[object]) { index in
            guard let current = index else { return nil }
            index = assignments[current].next
            return assignments[current]
        }
    }

    /// In their order.
    func places(of edits: Edits) -> some Sequence<InstructionPlace> {
        sequence(state: Optional(edits.first)) { index in
            guard let current = index else { return nil }
            index = self.edits[current].next
            return self.edits[current].place
        }
    }

    func hasEdits(_ object: Int) -> Bool {
        assignments(of: object).contains { assignment in
            if case .edit = assignment.effect { true } else { false }
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

    /// False if the object was erased before; the same holds for the next ones.
    mutating func set(
        _ object: Int,
        _ property: Int,
        to value: ColumnValue,
        _ place: InstructionPlace
    ) -> Bool {
        guard touch(object, place) else { return false }
        guard let index = assignment(of: object, property) else {
            append(.set(value), object, property)
            return true
        }
        switch assignments[index].effect {
        case .set, .add: assignments[index].effect = .set(value)
        // Whether they fit is not known yet.
        case .edit: appendEdit(place, at: index)
        }
        return true
    }

    mutating func add(
        _ object: Int,
        _ property: Int,
        _ amount: Int64,
        _ place: InstructionPlace
    ) -> Bool {
        guard touch(object, place) else { return false }
        guard let index = assignment(of: object, property) else {
            append(.add(amount), object, property)
            return true
        }
        switch assignments[index].effect {
        case .set(let value): assignments[index].effect = .set(value.adding(amount))
        case .add(let other): assignments[index].effect = .add(other &+ amount)
        case .edit: appendEdit(place, at: index)
        }
        return true
    }

    mutating func edit(_ object: Int, _ property: Int, _ place: InstructionPlace) -> Bool {
        guard touch(object, place) else { return false }
        guard let index = assignment(of: object, property) else {
            append(.edit(base: nil, newEdits(place)), object, property)
            return true
        }
        switch assignments[index].effect {
        case .set(let value): assignments[index].effect = .edit(base: value, newEdits(place))
        // No edit fits a number, so the sum does not matter.
        case .add: assignments[index].effect = .edit(base: nil, newEdits(place))
        case .edit: appendEdit(place, at: index)
        }
        return true
    }

    /// An instruction inside the object requires it to exist.
    private mutating func touch(_ object: Int, _ place: InstructionPlace) -> Bool {
        switch actions[object] {
        case .none:
            actions[object] = .update
            neededBy[object] = place
        case .update, .create, .recreate: break
        case .erase: return false
        }
        return true
    }

    private func assignment(of object: Int, _ property: Int) -> Int? {
        var index = firstAssignments[object]
        while let current = index {
            if assignments[current].property == property { return current }
            index = assignments[current].next
        }
        return nil
    }

    private mutating func append(_ effect: Effect, _ object: Int, _ property: Int) {
        assignments.append(
            Assignment(property: property, effect: effect, next: firstAssignments[object])
        )
        firstAssignments[object] = assignments.count - 1
    }

    private mutating func newEdits(_ place: InstructionPlace) -> Edits {
        edits.append(Edit(place: place))
        return Edits(first: edits.count - 1, last: edits.count - 1)
    }

    private mutating func appendEdit(_ place: InstructionPlace, at index: Int) {
        guard case .edit(let base, var run) = assignments[index].effect else { return }
        edits.append(Edit(place: place))
        edits[run.last].next = edits.count - 1
        run.last = edits.count - 1
        assignments[index].effect = .edit(base: base, run)
    }
}

extension ColumnValue {
    /// With wrap-around; null stays null (instruction semantics, 3.10).
    func adding(_ amount: Int64) -> ColumnValue {
        if case .integer(let value) = self { .integer(value &+ amount) } else { self }
    }
}

// MARK: Order

extension ObjectBatch {
    /// The objects by ascending key: the table's index is then walked in order.
    func objectsByKey() -> [Int] {
        // Most keys differ in their first bytes, and numbers compare faster than arrays.
        var order = keys.enumerated().map { (prefix: $1.sortingPrefix, object: $0) }
        order.sort { left, right in
            left.prefix == right.prefix
                ? keys[left.object].precedes(keys[right.object])
                : left.prefix < right.prefix
        }
        return order.map(\.object)
    }
}

extension ColumnValue {
    /// Ascends with the order of keys; equal prefixes may still have different keys.
    fileprivate var sortingPrefix: UInt64 {
        switch self {
        case .integer(let value):
            return UInt64(bitPattern: value) ^ (1 << 63)
        case .text(let bytes):
            var prefix: UInt64 = 0
            for index in 0..<8 {
                prefix = prefix << 8 | (index < bytes.count ? UInt64(bytes[index]) : 0)
            }
            return prefix
        case .null, .real, .blob:
            return 0
        }
    }

    fileprivate func precedes(_ other: ColumnValue) -> Bool {
        switch (self, other) {
        case (.integer(let left), .integer(let right)): left < right
        case (.text(let left), .text(let right)): left.lexicographicallyPrecedes(right)
        case (.null, .null): false
        case (.null, _): true
        default: false
        }
    }
}
