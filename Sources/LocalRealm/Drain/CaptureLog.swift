internal import Documents
internal import SQLite

/// What the capture log says, object by object and group by group (local realm, 4.2 and 4.3).
struct CaptureLog {
    private(set) var objects: [ObjectTrace] = []
    private(set) var groups: [Group] = []
    /// Links in the objects' lists of changes.
    private var changes: [Change] = []
    /// For each table, where an object with that key is.
    private var positions: [[ColumnValue: Int]]
    /// Where the last row was about: statements often log several rows of one object.
    private var last: (table: Int, object: Int)?

    /// A run of log rows that becomes one changeset.
    struct Group {
        /// Milliseconds since 1970, of its last row.
        var lastAt: Int64
        /// Objects in the order in which the group first touched them.
        var touched: [Int] = []
    }

    /// A value that a property had, before the first row of a group that logged it.
    struct Change {
        let group: Int
        /// Position in the table's columns.
        let column: Int
        let old: ColumnValue
        fileprivate let previous: Int?
        fileprivate var next: Int?
    }

    init(tableCount: Int) {
        self.positions = Array(repeating: [:], count: tableCount)
    }

    /// What the log says has happened to one object.
    struct ObjectTrace {
        /// Position in the catalogue.
        let table: Int
        /// As it is stored.
        let key: ColumnValue
        /// Whether the object was there before the first row.
        let wasPresent: Bool
        /// Whether it is there at the end.
        var isPresent: Bool
        /// The group that first deleted it.
        var deathGroup: Int?
        /// The group that created it for the last time.
        var birthGroup: Int?
        fileprivate var firstChange: Int?
        fileprivate var lastChange: Int?
        fileprivate var lastTouchedGroup = -1
    }
}

// MARK: Reading

extension CaptureLog {
    /// Whether there is anything to read.
    static func isEmpty(on connection: Connection) throws(SQLiteError) -> Bool {
        try connection.integer("SELECT 1 FROM _realm_capture LIMIT 1") == nil
    }

    /// Reads the whole log; a pause longer than the gap starts another group.
    static func read(
        from connection: Connection,
        _ catalogue: Catalogue,
        splitGapInMilliseconds gap: Int64
    ) throws -> CaptureLog {
        var log = CaptureLog(tableCount: catalogue.tables.count)
        let statement = try connection.statement(
            "SELECT at, class, key, prop, old FROM _realm_capture ORDER BY seq"
        )
        defer { statement.reset() }
        while try statement.step() {
            let at = statement.integer(at: 0)
            guard let table = catalogue.position(ofID: statement.integer(at: 1)) else { continue }
            log.open(at: at, gap: gap)
            let mark = statement.integer(at: 3)
            let object = log.object(table, statement, isNew: mark == CaptureMark.inserted)
            log.touch(object)
            switch mark {
            case CaptureMark.inserted: log.insert(object)
            case CaptureMark.deleted: log.delete(object)
            case CaptureMark.existed: break
            default:
                guard let column = catalogue[table].position(ofID: mark) else { continue }
                if log.wantsChange(object, column) {
                    log.append(statement.columnValue(at: 4), object, column)
                }
            }
        }
        return log
    }

    private mutating func open(at: Int64, gap: Int64) {
        if let last = groups.last, at - last.lastAt <= gap {
            groups[groups.count - 1].lastAt = at
        } else {
            groups.append(Group(lastAt: at))
        }
    }

    private mutating func object(_ table: Int, _ row: Statement, isNew: Bool) -> Int {
        if let last, last.table == table, row.holds(objects[last.object].key, at: 2) {
            return last.object
        }
        return object(table, row.columnValue(at: 2), wasPresent: !isNew)
    }

    private mutating func object(_ table: Int, _ key: ColumnValue, wasPresent: Bool) -> Int {
        let object: Int
        if let known = positions[table][key] {
            object = known
        } else {
            object = objects.count
            positions[table][key] = object
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
        objects[object].isPresent = false
        objects[object].birthGroup = nil
        objects[object].deathGroup = objects[object].deathGroup ?? groups.count - 1
        objects[object].firstChange = nil
        objects[object].lastChange = nil
    }

    /// Only the first old value of a group counts, and none of the group that created the object.
    private func wantsChange(_ object: Int, _ column: Int) -> Bool {
        let group = groups.count - 1
        guard objects[object].isPresent, objects[object].birthGroup != group else { return false }
        var index = objects[object].lastChange
        while let current = index, changes[current].group == group {
            if changes[current].column == column { return false }
            index = changes[current].previous
        }
        return true
    }

    private mutating func append(_ old: ColumnValue, _ object: Int, _ column: Int) {
        let index = changes.count
        let last = objects[object].lastChange
        changes.append(
            Change(group: groups.count - 1, column: column, old: old, previous: last)
        )
        if let last {
            changes[last].next = index
        } else {
            objects[object].firstChange = index
        }
        objects[object].lastChange = index
    }
}

// MARK: Adding what the log does not say

extension CaptureLog {
    /// Notes that the drain itself changes a value, as if the last group had done it.
    mutating func addChange(table: Int, key: ColumnValue, column: Int, old: ColumnValue) {
        let object = object(table, key, wasPresent: true)
        touch(object)
        if wantsChange(object, column) { append(old, object, column) }
    }

    /// Takes out an object that cannot be sent.
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
    /// The groups must be asked for in their order; what is taken is gone, so that an object that many
    /// groups have changed is not searched from its beginning every time.
    mutating func takeChanges(of object: Int, in group: Int) -> [Change] {
        var result: [Change] = []
        while let current = objects[object].firstChange, changes[current].group == group {
            result.append(changes[current])
            objects[object].firstChange = changes[current].next
        }
        return result
    }

    /// What a property held when the changes taken so far had been made, if a later group has logged
    /// it; otherwise the row still holds it.
    func laterValue(of object: Int, column: Int) -> ColumnValue? {
        var index = objects[object].firstChange
        while let current = index {
            if changes[current].column == column { return changes[current].old }
            index = changes[current].next
        }
        return nil
    }
}
