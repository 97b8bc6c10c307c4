internal import Documents

/// The positions of one table's objects in a list, by key.
///
/// Programs mostly number their rows upwards: ascending integers need no hashing, and a number above all
/// others is known to be new without a search.
struct ObjectPositions {
    private var ascendingKeys: [Int64] = []
    private var ascendingPositions: [Int] = []
    /// Of all other keys.
    private var others: [ColumnValue: Int] = [:]

    func position(of key: ColumnValue) -> Int? {
        if case .integer(let number) = key { return position(of: number) }
        return others[key]
    }

    func position(of number: Int64) -> Int? {
        guard let last = ascendingKeys.last, number <= last else { return nil }
        let index = ascendingIndex(notBelow: number)
        if ascendingKeys[index] == number { return ascendingPositions[index] }
        return others.isEmpty ? nil : others[.integer(number)]
    }

    /// The known position of a key, or the given one, which it has from now on.
    mutating func insert(_ key: ColumnValue, at position: Int) -> Int {
        guard case .integer(let number) = key else { return insertOther(key, at: position) }
        guard ascendingKeys.last.map({ number <= $0 }) ?? false else {
            ascendingKeys.append(number)
            ascendingPositions.append(position)
            return position
        }
        let index = ascendingIndex(notBelow: number)
        if ascendingKeys[index] == number { return ascendingPositions[index] }
        return insertOther(key, at: position)
    }

    /// One search for both cases.
    private mutating func insertOther(_ key: ColumnValue, at position: Int) -> Int {
        func known(_ entry: inout Int) -> Int {
            if entry < 0 { entry = position }
            return entry
        }
        return known(&others[key, default: -1])
    }

    /// The index of the first ascending key that is not below a number, if the last one is not.
    private func ascendingIndex(notBelow number: Int64) -> Int {
        var (low, high) = (0, ascendingKeys.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if ascendingKeys[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
