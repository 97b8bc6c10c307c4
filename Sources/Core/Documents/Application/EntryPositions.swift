import Changesets
import Schemas

/// Positions by object, in a table for each class: a key is hashed without its class, and a number alone.
struct EntryPositions {
    private struct Table {
        var numbers: [Int64: Int] = [:]
        var others: [ObjectKey: Int] = [:]
    }

    /// By the position of the class in the schema.
    private var tables: [Table?] = []
    private var classes: [Text: Int] = [:]

    /// The position of an object; one that has none gets the new one.
    mutating func position(
        of object: ObjectReference,
        ofClassAt classPosition: Int,
        orAdd new: Int
    ) -> Int {
        while tables.count <= classPosition { tables.append(nil) }
        if tables[classPosition] == nil {
            tables[classPosition] = Table()
            classes[object.className] = classPosition
        }
        if case .int(let number) = object.key {
            return tables[classPosition]?.numbers.value(of: number, orAdd: new) ?? new
        }
        return tables[classPosition]?.others.value(of: object.key, orAdd: new) ?? new
    }

    subscript(object: ObjectReference) -> Int? {
        guard let table = classes[object.className].flatMap({ tables[$0] }) else { return nil }
        if case .int(let number) = object.key { return table.numbers[number] }
        return table.others[object.key]
    }
}

extension Dictionary {
    fileprivate mutating func value(of key: Key, orAdd new: Value) -> Value {
        if let value = self[key] { return value }
        self[key] = new
        return new
    }
}
