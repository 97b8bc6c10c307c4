import Changesets

/// A string of any changeset of a merge: equal symbols, equal strings (merge rules, 10).
struct Symbol: Hashable {
    let rawValue: UInt32

    /// For an instruction without such a name.
    static let none = Symbol(rawValue: .max)
}

/// An object that some changeset of a merge names, by class and key; numbered from 0.
struct ObjectNumber: Hashable {
    let rawValue: UInt32

    var index: Int { Int(rawValue) }

    /// For an instruction without an object.
    static let none = ObjectNumber(rawValue: .max)
}

/// Turns the strings and keys of all changesets of a merge into numbers that can be compared across
/// their string tables (merge rules, 4 and 10).
struct Symbols {
    private var texts = StringTable()
    private var objects: [Identity: ObjectNumber] = [:]
    /// The last object looked up: consecutive instructions often have the same.
    private var last: (identity: Identity, number: ObjectNumber)?

    /// Reserves room for that many different objects.
    init(objectCapacity: Int) {
        objects.reserveCapacity(objectCapacity)
    }

    /// The number of objects.
    var objectCount: Int { objects.count }

    /// The symbols of a table's strings, in the order of the table.
    mutating func symbols(of table: StringTable) -> [Symbol] {
        table.texts.map { Symbol(rawValue: texts.intern($0).rawValue) }
    }

    subscript(symbol: Symbol) -> Text {
        texts[InternIndex(symbol.rawValue)]
    }

    /// The object's number, given the symbols of the changeset that names it.
    mutating func object(
        _ className: InternIndex,
        _ key: PrimaryKey,
        in table: [Symbol]
    ) -> ObjectNumber {
        let identity = Identity(
            className: table[Int(className.rawValue)],
            key: Identity.Key(key, in: table)
        )
        if let last, last.identity == identity { return last.number }
        let number = number(of: identity)
        last = (identity, number)
        return number
    }

    private mutating func number(of identity: Identity) -> ObjectNumber {
        if let number = objects[identity] { return number }
        let number = ObjectNumber(rawValue: UInt32(objects.count))
        objects[identity] = number
        return number
    }
}

extension Symbols {
    /// Keys are equal only if they are of one kind: Int 1 and String "1" are two objects.
    private struct Identity: Hashable {
        let className: Symbol
        let key: Key

        enum Key: Hashable {
            case null
            case int(Int64)
            case string(Symbol)
            case objectID(ObjectID)
            case uuid(UniqueID)
            case globalKey(GlobalKey)

            init(_ key: PrimaryKey, in table: [Symbol]) {
                self =
                    switch key {
                    case .null: .null
                    case .int(let value): .int(value)
                    case .string(let index): .string(table[Int(index.rawValue)])
                    case .objectID(let value): .objectID(value)
                    case .uuid(let value): .uuid(value)
                    case .globalKey(let value): .globalKey(value)
                    }
            }
        }
    }
}
