import Changesets

/// An instruction during a merge: its names as symbols that both sides share, and the few numbers
/// that rules change, in place.
///
/// The rules of `Rules/` are written on pairs of these; everything else about an instruction stays
/// in its changeset, to which `Side` writes the changes back.
struct Operation {
    /// Where the operation came from, for the way back and for error messages.
    let origin: Origin
    let stamp: Stamp
    /// The type of the instruction, in the order that tells A from B (merge rules, 1 and 3).
    let kind: InstructionCode
    /// AddTable, EraseTable 1; columns and objects 2; all others 3 + length of the path.
    let level: Int
    let place: Place

    /// The path without its last element.
    var container: [Step]
    /// What kind of element the path ends in; an index itself is in `index`.
    let end: PathEnd
    /// The last path element, if it is an index: i(X) of the rules, the source of a move.
    var index: UInt32
    /// Where an ArrayMove takes its element: to(X).
    var destination: UInt32
    /// The size of the list before the instruction, if the path ends in an index: p(X).
    var priorSize: UInt32

    var detail: Detail

    private(set) var isDiscarded = false
    /// Whether some step of the merge left the operation different from what it was before.
    var isChanged = false

    init(
        origin: Origin,
        stamp: Stamp,
        kind: InstructionCode,
        level: Int,
        place: Place,
        container: [Step] = [],
        end: PathEnd = .none,
        index: UInt32 = 0,
        destination: UInt32 = 0,
        priorSize: UInt32 = 0,
        detail: Detail = .none
    ) {
        self.origin = origin
        self.stamp = stamp
        self.kind = kind
        self.level = level
        self.place = place
        self.container = container
        self.end = end
        self.index = index
        self.destination = destination
        self.priorSize = priorSize
        self.detail = detail
    }

    /// The operation disappears from its changeset (merge rules, 3.1).
    mutating func discard() {
        isDiscarded = true
    }

    /// The payload, if this kind of instruction has one.
    var content: Content? {
        switch detail {
        case .update(let content, _), .element(let content): content
        case .none, .table, .column, .addInteger, .clear: nil
        }
    }

    /// Whether the stamp of this operation is the smaller one; false both ways if they are equal.
    func isOlder(than other: Operation) -> Bool {
        stamp < other.stamp
    }
}

extension Operation {
    /// The instruction in the operands, as they were before the merge.
    struct Origin {
        let changeset: Int
        let instruction: Int
        /// Not that instruction, but one that a rule put before it (merge rules, 3.2).
        var isPrepended = false
    }

    /// What an instruction is about, by the names that a merge never changes.
    struct Place: Hashable {
        let className: Symbol
        var object = ObjectNumber.none
        /// The field of a path instruction, or the column of a schema instruction.
        var field = Symbol.none
    }

    /// An element of a path (merge rules, 4): an index never equals a string.
    enum Step: Hashable {
        case index(UInt32)
        case string(Symbol)
    }

    /// How a path ends.
    enum PathEnd: Hashable {
        /// The path is empty.
        case none
        case string(Symbol)
        case index
    }

    /// What the rules look at besides names and places, for the kinds that have it.
    enum Detail {
        case none
        case table(TableShape)
        case column(ColumnShape)
        /// An Update; the flag is false for index paths.
        case update(Content, isDefault: Bool)
        case addInteger(Int64)
        case clear(CollectionType)
        /// ArrayInsert, SetInsert and SetErase.
        case element(Content)
    }

    /// What two AddTable of one class must agree on.
    struct TableShape: Hashable {
        enum Kind: Hashable {
            case topLevel, embedded, asymmetric
        }

        let kind: Kind
        /// `.none` for an embedded class.
        let keyField: Symbol
        let keyType: PrimaryKeyType?
        let isKeyNullable: Bool
    }

    /// What two AddColumn of one column must agree on; the key type is not part of it.
    struct ColumnShape: Hashable {
        let type: TypeCode
        let isNullable: Bool
        let collection: CollectionType
        /// `.none` unless the type is a link.
        let linkTarget: Symbol
    }
}
