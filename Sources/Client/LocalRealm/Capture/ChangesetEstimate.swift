internal import Documents
internal import SQLite

/// Estimates the size of changesets while their rows of the capture log are read, to decide where
/// to cut.
///
/// The log holds old values, which are assumed to be as long as the new ones, and of inserted rows
/// only the keys. For those, a row of the table is measured from time to time.
struct ChangesetEstimate {
    private let catalogue: Catalogue
    private let statements: StatementPool
    /// By table.
    private var samples: [Sample]

    private struct Sample {
        var sizeInBytes = 0
        /// Objects for which the same size was assumed.
        var uses = 0
    }

    /// The overhead of an instruction besides its value.
    private static let instructionInBytes = 12
    /// After that many bytes, a new sample is taken.
    private static let sampledSizeInBytes = 16 << 10

    init(_ catalogue: Catalogue, _ statements: StatementPool) {
        self.catalogue = catalogue
        self.statements = statements
        self.samples = Array(repeating: Sample(), count: catalogue.tables.count)
    }

    /// An object with all its values.
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
    /// Roughly the value's size in a changeset.
    fileprivate var sizeInBytes: Int {
        switch self {
        case .null: 0
        case .integer: 4
        case .real: 8
        case .text(let bytes), .blob(let bytes): bytes.count
        }
    }
}
