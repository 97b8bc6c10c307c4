package import Changesets

/// The targets of a run of changesets: enough to tell which changesets of the other side some merge
/// rule could act on (the candidate table of merge rules, 10).
///
/// A changeset that shares no target with it can be left out of the merge: neither side would
/// change.
package struct TouchedPlaces {
    private var classes: Set<Text> = []
    private var columns: Set<Column> = []
    private var objects: Set<ObjectReference> = []
    private var erasesSchema = false

    private struct Column: Hashable {
        let className: Text
        let field: Text
    }

    package init() {}

    package init(of operands: [MergeOperand]) {
        for operand in operands { insert(operand.changeset) }
    }

    package init(of changeset: Changeset) {
        insert(changeset)
    }

    /// A number for each place, the same for every run in this process; different places may share
    /// one. Nil if everything is affected.
    package var numbers: Set<UInt64>? {
        guard !erasesSchema else { return nil }
        var numbers: Set<UInt64> = []
        numbers.reserveCapacity(classes.count + columns.count + objects.count)
        for name in classes { numbers.insert(Self.number(0, name)) }
        for column in columns { numbers.insert(Self.number(1, column)) }
        for object in objects { numbers.insert(Self.number(2, object)) }
        return numbers
    }

    private static func number(_ kind: UInt8, _ place: some Hashable) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(kind)
        hasher.combine(place)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    package mutating func insert(_ changeset: Changeset) {
        var last: Instruction.ObjectTarget?
        for instruction in changeset.instructions {
            switch instruction {
            case .eraseTable, .eraseColumn:
                erasesSchema = true
            case .addTable(let table):
                classes.insert(changeset.text(table.className))
            case .addColumn(let column):
                columns.insert(Self.column(column, of: changeset))
            default:
                // Consecutive instructions usually have the same object.
                guard let target = instruction.objectTarget, target != last else { continue }
                last = target
                objects.insert(changeset.reference(target))
            }
        }
    }

    package mutating func insert(_ changeset: PlainChangeset) {
        objects.formUnion(changeset.objects)
    }

    /// Whether some rule could act on an instruction of the changeset and one of the run. Erased
    /// classes and columns affect everything.
    package func mayMeet(_ changeset: Changeset) -> Bool {
        if erasesSchema { return true }
        var last: Instruction.ObjectTarget?
        return changeset.instructions.contains { instruction in
            switch instruction {
            case .eraseTable, .eraseColumn:
                return true
            case .addTable(let table):
                return classes.contains(changeset.text(table.className))
            case .addColumn(let column):
                return columns.contains(Self.column(column, of: changeset))
            default:
                guard !objects.isEmpty, let target = instruction.objectTarget, target != last
                else { return false }
                last = target
                return objects.contains(changeset.reference(target))
            }
        }
    }

    /// The same for a changeset that only creates objects and sets their properties.
    package func mayMeet(_ changeset: PlainChangeset) -> Bool {
        if erasesSchema { return true }
        return !objects.isEmpty && changeset.containsObject { objects.contains($0) }
    }

    private static func column(
        _ column: Instruction.AddColumn,
        of changeset: Changeset
    ) -> Column {
        Column(
            className: changeset.text(column.className),
            field: changeset.text(column.field)
        )
    }
}
