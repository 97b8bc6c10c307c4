import Changesets

/// An instruction during a merge: its names as symbols that both sides share, and the few numbers
/// that rules change, in place.
///
/// The rules of `Rules/` work on pairs of these; everything else of an instruction stays in its
/// changeset, to which `Side` writes the changes back.
struct Operation {
    /// The instruction it was made from, for writing back and for error messages.
    let origin: Origin
    let stamp: Stamp
    /// The type of the instruction, in the order that defines A and B (merge rules, 1 and 3).
    let kind: InstructionCode
    /// AddTable, EraseTable 1; columns and objects 2; all others 3 + length of the path.
    let level: Int
    let place: Place

    /// The path without its last element.
    var container: [Step]
    /// The kind of the path's last element; an index itself is in `index`.
    let end: PathEnd
    /// The last path element, if it is an index: i(X) of the rules, the source of a move.
    var index: UInt32
    /// The target index of an ArrayMove: to(X).
    var destination: UInt32
    /// The size of the list before the instruction, if the path ends in an index: p(X).
    var priorSize: UInt32

    var detail: Detail

    private(set) var isDiscarded = false
    /// Whether the merge changed the operation.
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

    /// Removes the operation from its changeset (merge rules, 3.1).
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

    /// The target of an instruction, by the names that a merge never changes.
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

    /// The end of a path.
    enum PathEnd: Hashable {
        /// The path is empty.
        case none
        case string(Symbol)
        case index
    }

    /// The data that rules use besides names and places, for the kinds that have it.
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

    /// The definition on which two AddTable of one class must agree.
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

    /// The definition on which two AddColumn of one column must agree; the key type is not part of
    /// it.
    struct ColumnShape: Hashable {
        let type: TypeCode
        let isNullable: Bool
        let collection: CollectionType
        /// `.none` unless the type is a link.
        let linkTarget: Symbol
    }
}
