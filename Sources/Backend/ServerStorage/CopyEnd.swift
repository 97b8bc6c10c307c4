/// A store that is copied from or to, while no server uses it.
protocol CopyEnd {
    /// For messages, and the mark of a store that was moved.
    var place: String { get }
    /// The place that this store was moved to; nil if it was not.
    func movedTo() throws -> String?
    /// Whether no table has a row.
    func isEmpty() throws -> Bool
    func count(of table: CopiedTable) throws -> Int
    /// Reads a table row by row; nil at the end.
    func rows(of table: CopiedTable) throws -> () throws -> [CopiedValue]?
    /// Adds rows to a table.
    func add(_ next: () throws -> [CopiedValue]?, to table: CopiedTable) throws
    /// Begins a transaction that reads one state, or writes.
    func begin() throws
    func commit() throws
    /// Takes effect at once, in no transaction.
    func markMoved(to place: String) throws
    /// The last step, when all rows are there.
    func finish() throws
}

/// Reads the rows of an end once more, and adds up their digests.
extension CopyEnd {
    func digest(
        of table: CopiedTable,
        _ canonical: ([CopiedValue]) throws -> [CopiedValue]
    ) throws -> ContentDigest {
        var digest = ContentDigest()
        let next = try rows(of: table)
        while let row = try next() { digest.add(try canonical(row)) }
        return digest
    }
}
