internal import Documents
internal import SQLite
internal import Versions

/// A piece of the capture log, by object and by group (local realm, 4.2 and 4.3).
///
/// The log may be larger than memory: of the rows after the piece, only the values are kept that
/// the piece's own objects had at its end.
struct CaptureLog {
    private(set) var objects: [ObjectTrace] = []
    private(set) var groups: [Group] = []
    /// The elements of the objects' linked lists of changes.
    private var changes: [Change] = []
    /// For each table, the positions of the objects by key.
    private var positions: [ObjectPositions]
    /// The last row of the piece, or of the one before; nil if no row was ever read.
    private(set) var lastSequence: Int64?
    /// Whether the log continues after the piece.
    private(set) var hasMore = false
    private var rowCount = 0
    private var keptBytes = 0
    /// Objects that an INSERT has met and may still replace, in the statement that is being read.
    private var beingReplaced: Set<Int> = []
    /// The object of the last row: statements often log several rows of one object.
    private var last: (table: Int, object: Int)?

    /// A run of log rows that becomes one changeset.
    struct Group {
        /// Milliseconds since 1970, of its last row.
        var lastAt: Int64
        let firstSequence: Int64
        var lastSequence: Int64
        /// Rows of inserted objects.
        fileprivate(set) var insertions = 0
        /// Whether it deletes any object.
        fileprivate(set) var hasDeletions = false
        /// An estimate for its changeset.
        var sizeInBytes = 0
        /// Objects in the order in which the group first touched them.
        var touched: [Int] = []
    }

    /// A property's value before the first row of a group that logged it.
    struct Change {
        let group: Int
        /// Position in the table's columns.
        let column: Int
        let old: ColumnValue
        fileprivate let previous: Int?
        fileprivate var next: Int?
    }

    init(tableCount: Int) {
        self.positions = Array(repeating: ObjectPositions(), count: tableCount)
    }

    /// The history of one object in the log.
    struct ObjectTrace {
        /// Position in the catalogue.
        let table: Int
        /// As stored.
        let key: ColumnValue
        /// Whether the object existed before the first row.
        let wasPresent: Bool
        /// Whether it exists at the end.
        var isPresent: Bool
        /// The group that first deleted it.
        var deathGroup: Int?
        /// The group that created it for the last time.
        var birthGroup: Int?
        /// It is deleted after the piece: its last value before that does not matter.
        var endsLater = false
        fileprivate var firstChange: Int?
        fileprivate var lastChange: Int?
        fileprivate var lastTouchedGroup = -1

        /// Whether a change is not taken yet.
        var hasChanges: Bool { firstChange != nil }

        func isBorn(in group: Int) -> Bool {
            isPresent && birthGroup == group
        }

        /// Deleted and created again within the group.
        func isReborn(in group: Int) -> Bool {
            wasPresent && deathGroup == group && isBorn(in: group)
        }

        /// Deleted in the group, and not created again before a later one.
        func isGone(in group: Int) -> Bool {
            wasPresent && deathGroup == group && !isBorn(in: group)
        }
    }
}

// MARK: Reading

extension CaptureLog {
    /// Whether the log is empty.
    static func isEmpty(on connection: Connection) throws(SQLiteError) -> Bool {
        try connection.integer("SELECT 1 FROM _realm_capture LIMIT 1") == nil
    }

    /// Whether any row tells of a deleted object.
    static func hasDeletions(on connection: Connection) throws(SQLiteError) -> Bool {
        try connection.integer(
            "SELECT 1 FROM _realm_capture WHERE prop = \(CaptureMark.deleted) LIMIT 1"
        ) != nil
    }

    /// Deletes the rows up to a number.
    ///
    /// - Parameter isLast: whether there are none behind it.
    static func deleteRows(
        upTo sequence: Int64,
        isLast: Bool,
        on connection: Connection
    ) throws(SQLiteError) {
        if isLast {
            // Without a condition SQLite drops the pages, and does not visit the rows.
            try connection.run("DELETE FROM _realm_capture")
        } else {
            try connection.run(
                "DELETE FROM _realm_capture WHERE seq <= ?1",
                [.integer(sequence)]
            )
        }
    }

    /// The most log held in memory at once.
    struct Limits {
        var rows = 100_000
        var bytes = 64 << 20
        /// A group that reaches this size ends with the statement; from half of it, with a pause.
        var groupInBytes = 512 << 10
    }

    /// Statements further apart are unlikely to be of one transaction.
    private static let pauseInMilliseconds: Int64 = 10

    /// Reads the rows above a number, as many as the limits allow. A pause longer than the gap
    /// starts another group, and so does a statement that follows a large one.
    static func read(
        from connection: Connection,
        _ catalogue: Catalogue,
        _ statements: StatementPool,
        after sequence: Int64?,
        splitGapInMilliseconds gap: Int64,
        limits: Limits = Limits()
    ) throws -> CaptureLog {
        var log = CaptureLog(tableCount: catalogue.tables.count)
        log.lastSequence = sequence
        var estimate = ChangesetEstimate(catalogue, statements)
        let statement = try connection.statement(
            "SELECT at, class, key, prop, old, seq FROM _realm_capture WHERE seq >= ?1 ORDER BY seq"
        )
        defer { statement.reset() }
        try statement.bind(sequence?.adding(clamping: 1) ?? .min, at: 1)
        while try statement.step() {
            let table = catalogue.position(ofID: statement.integer(at: 1))
            if log.hasMore || log.mayEnd(before: statement, table, limits) {
                log.hasMore = true
                if let table { log.lookAhead(at: statement, table, catalogue) }
            } else {
                try log.take(statement, table, catalogue, gap, limits, &estimate)
            }
        }
        return log
    }

    private mutating func take(
        _ row: Statement,
        _ table: Int?,
        _ catalogue: Catalogue,
        _ gap: Int64,
        _ limits: Limits,
        _ estimate: inout ChangesetEstimate
    ) throws {
        let sequence = row.integer(at: 5)
        lastSequence = sequence
        guard let table else { return }
        rowCount += 1
        if groups.last?.lastAt != row.integer(at: 0) { beingReplaced = [] }
        open(at: row.integer(at: 0), sequence, gap: gap, limits)
        let mark = row.integer(at: 3)
        let object = object(table, row, isNew: mark == CaptureMark.inserted)
        touch(object)
        switch mark {
        case CaptureMark.inserted:
            if !beingReplaced.isEmpty { beingReplaced.remove(object) }
            groups[groups.count - 1].insertions += 1
            insert(object)
            grow(by: try estimate.creation(of: objects[object].key, in: table))
        case CaptureMark.deleted:
            delete(object)
            grow(by: estimate.change(from: objects[object].key))
        case CaptureMark.existed: beingReplaced.insert(object)
        default:
            guard let column = catalogue[table].position(ofID: mark) else { return }
            if wantsChange(object, column, in: groups.count - 1) {
                let old = row.columnValue(at: 4)
                grow(by: estimate.change(from: old))
                append(old, object, column, in: groups.count - 1)
            }
        }
    }

    private mutating func grow(by size: Int) {
        groups[groups.count - 1].sizeInBytes += size
    }

    /// Whether the piece can end here: it is full, and no statement is between two of its rows.
    private func mayEnd(before row: Statement, _ table: Int?, _ limits: Limits) -> Bool {
        guard rowCount >= limits.rows || keptBytes >= limits.bytes else { return false }
        // All rows of one statement have one time.
        if groups.last?.lastAt != row.integer(at: 0) { return true }
        guard let table, beingReplaced.isEmpty else { return false }
        return position(in: table, row) == nil
    }

    /// The object of a log row, if the piece has it.
    private func position(in table: Int, _ row: Statement) -> Int? {
        if row.storageClass(at: 2) == .integer {
            return positions[table].position(of: row.integer(at: 2))
        }
        return positions[table].position(of: row.columnValue(at: 2))
    }

    /// Records what an object of the piece held at its end, or that it will be deleted.
    private mutating func lookAhead(at row: Statement, _ table: Int, _ catalogue: Catalogue) {
        guard let object = position(in: table, row), objects[object].isPresent,
            !objects[object].endsLater
        else { return }
        let mark = row.integer(at: 3)
        if mark == CaptureMark.deleted {
            objects[object].endsLater = true
            objects[object].firstChange = nil
            objects[object].lastChange = nil
        } else if let column = catalogue[table].position(ofID: mark),
            wantsChange(object, column, in: groups.count)
        {
            append(row.columnValue(at: 4), object, column, in: groups.count)
        }
    }

    private mutating func open(at: Int64, _ sequence: Int64, gap: Int64, _ limits: Limits) {
        if let last = groups.last, at.subtracting(clamping: last.lastAt) <= gap,
            !mayEnd(last, before: at, limits)
        {
            groups[groups.count - 1].lastAt = at
            groups[groups.count - 1].lastSequence = sequence
        } else {
            groups.append(Group(lastAt: at, firstSequence: sequence, lastSequence: sequence))
        }
    }

    /// Whether a large group may end here. All rows of one statement have one time, and stay together.
    private func mayEnd(_ group: Group, before at: Int64, _ limits: Limits) -> Bool {
        let pause = at.subtracting(clamping: group.lastAt)
        return group.sizeInBytes >= limits.groupInBytes
            ? pause != 0
            : group.sizeInBytes >= limits.groupInBytes / 2 && pause >= Self.pauseInMilliseconds
    }

    private mutating func object(_ table: Int, _ row: Statement, isNew: Bool) -> Int {
        if let last, last.table == table, row.holds(objects[last.object].key, at: 2) {
            return last.object
        }
        return object(table, row.columnValue(at: 2), wasPresent: !isNew)
    }

    private mutating func object(_ table: Int, _ key: ColumnValue, wasPresent: Bool) -> Int {
        let object = positions[table].insert(key, at: objects.count)
        if object == objects.count {
            objects.append(
                ObjectTrace(table: table, key: key, wasPresent: wasPresent, isPresent: wasPresent)
            )
        }
        last = (table, object)
        return object
    }

    private mutating func touch(_ object: Int) {
        let group = groups.count - 1
        guard objects[object].lastTouchedGroup != group else { return }
        objects[object].lastTouchedGroup = group
        groups[group].touched.append(object)
    }

    private mutating func insert(_ object: Int) {
        // An insert that replaced the row in place is an update: the old values are logged.
        guard !objects[object].isPresent else { return }
        objects[object].isPresent = true
        objects[object].birthGroup = groups.count - 1
    }

    private mutating func delete(_ object: Int) {
        groups[groups.count - 1].hasDeletions = true
        objects[object].isPresent = false
        objects[object].birthGroup = nil
        objects[object].deathGroup = objects[object].deathGroup ?? groups.count - 1
        objects[object].firstChange = nil
        objects[object].lastChange = nil
    }

    /// Only the first old value of a group counts, and none in the group that created the object.
    private func wantsChange(_ object: Int, _ column: Int, in group: Int) -> Bool {
        guard objects[object].isPresent, objects[object].birthGroup != group else { return false }
        var index = objects[object].lastChange
        while let current = index, changes[current].group == group {
            if changes[current].column == column { return false }
            index = changes[current].previous
        }
        return true
    }

    private mutating func append(
        _ old: ColumnValue,
        _ object: Int,
        _ column: Int,
        in group: Int
    ) {
        switch old {
        case .text(let bytes), .blob(let bytes): keptBytes += bytes.count
        case .null, .integer, .real: break
        }
        let index = changes.count
        let last = objects[object].lastChange
        changes.append(Change(group: group, column: column, old: old, previous: last))
        if let last {
            changes[last].next = index
        } else {
            objects[object].firstChange = index
        }
        objects[object].lastChange = index
    }
}

// MARK: Correcting

extension CaptureLog {
    /// Removes an object that cannot be sent.
    mutating func drop(_ object: Int) {
        objects[object].isPresent = false
        objects[object].birthGroup = nil
        objects[object].deathGroup = nil
        objects[object].firstChange = nil
    }
}

// MARK: Asking, group by group

extension CaptureLog {
    /// Takes the changes that a group made to an object, in the order of the log.
    ///
    /// Ask for the groups in their order. Taken changes are removed, so that an object with many
    /// groups of changes is not searched from the beginning every time.
    mutating func takeChanges(of object: Int, in group: Int) -> [Change] {
        var result: [Change] = []
        while let current = objects[object].firstChange, changes[current].group == group {
            result.append(changes[current])
            objects[object].firstChange = changes[current].next
        }
        return result
    }

    /// A property's value after the changes taken so far, if a later group has logged it; otherwise
    /// the row still holds it.
    func laterValue(of object: Int, column: Int) -> ColumnValue? {
        var index = objects[object].firstChange
        while let current = index {
            if changes[current].column == column { return changes[current].old }
            index = changes[current].next
        }
        return nil
    }
}
