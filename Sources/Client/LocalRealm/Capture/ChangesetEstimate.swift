internal import Documents
internal import SQLite

/// Estimates how large changesets become while their rows of the capture log are read, to know where to cut.
///
/// The log holds old values, which are taken for as long as the new ones, and of inserted rows only the
/// keys: their size is that of a row of the table that is measured now and then.
struct ChangesetEstimate {
    private let catalogue: Catalogue
    private let statements: StatementPool
    /// By table.
    private var samples: [Sample]

    private struct Sample {
        var sizeInBytes = 0
        /// Objects that were taken for as large as this one.
        var uses = 0
    }

    /// What an instruction takes beside its value.
    private static let instructionInBytes = 12
    /// After that many bytes a sample is taken anew.
    private static let sampledSizeInBytes = 16 << 10

    init(_ catalogue: Catalogue, _ statements: StatementPool) {
        self.catalogue = catalogue
        self.statements = statements
        self.samples = Array(repeating: Sample(), count: catalogue.tables.count)
    }

    /// An object with all that it holds.
    mutating func creation(of key: ColumnValue, in table: Int) throws -> Int {
        let sample = samples[table]
        if sample.uses == 0 || sample.uses * sample.sizeInBytes >= Self.sampledSizeInBytes {
            samples[table] = Sample(sizeInBytes: try size(of: key, in: table), uses: 0)
        }
        samples[table].uses += 1
        return samples[table].sizeInBytes
    }

    private func size(of key: ColumnValue, in table: Int) throws -> Int {
        let columns = catalogue[table].columns.indices
        let values = try statements.statements(of: catalogue[table]).withRow(of: key) { row in
            columns.reduce(0) {
                $0 + Self.instructionInBytes + row.columnValue(at: $1).sizeInBytes
            }
        }
        return Self.instructionInBytes + key.sizeInBytes + (values ?? 0)
    }

    /// A property that held a value, or an object that is erased.
    func change(from old: ColumnValue) -> Int {
        Self.instructionInBytes + old.sizeInBytes
    }
}

extension ColumnValue {
    /// About as much as the value takes in a changeset.
    fileprivate var sizeInBytes: Int {
        switch self {
        case .null: 0
        case .integer: 4
        case .real: 8
        case .text(let bytes), .blob(let bytes): bytes.count
        }
    }
}
