import SQLite
import TestSupport

/// The committed writes of programs, and the resulting state that the server must have.
///
/// Every write is distinguishable: entries are changed by their own program only, numbers are added
/// up, and elements occur once.
struct Ledger {
    /// One program's object, write by write.
    struct Entry {
        let client: Int
        /// Nil: deleted.
        var notes: [String?]

        var latest: String? { notes.last ?? nil }
    }

    /// The value that one program added to a list or set that all share.
    struct Element: Hashable {
        let text: String
        let client: Int
        let tally: Int64
    }

    private(set) var entries: [String: Entry] = [:]
    private(set) var sum: Int64 = 0
    private(set) var marks: [Element] = []
    private(set) var tags: [Element] = []
    private(set) var writeCount = 0
    /// The number of writes to a client's entries when a copy of its file was made.
    private var remembered: [Int: [String: Int]] = [:]
    /// The elements that existed then.
    private var rememberedElements: [Int: Set<Element>] = [:]
    /// For the trace.
    private(set) var lastWrite = ""
    /// Entries that an operator took back with an older copy of a file.
    private(set) var takenBack: Set<String> = []
    /// Elements removed by an older copy, or with their object.
    private(set) var takenBackElements: Set<Element> = []
    /// Objects that the server once had and then lost: additions to them may be lost with them.
    private var lostTallies: Set<Int64> = []
    private var nextNumber = 1

    /// The classes in configuration syntax, on one line.
    static let schema = """
        { classes: { \
        Entry: { primary_key: _id, properties: { _id: string, writer: int, note: "string?" } }, \
        Tally: { primary_key: _id, properties: { _id: int, sum: { type: int, counter: true }, \
        text: "string?", marks: "list<string>", tags: "set<string>", last: "link<Entry>" } } } }
        """

    /// A write of a program, and its effect if it is committed.
    private enum Change: CustomStringConvertible {
        case entry(String, Entry)
        case sum(Int64)
        case mark(Element)
        case tag(Element)
        case other

        var description: String {
            switch self {
            case .entry(let key, let entry): "\(key) = \(entry.latest ?? "deleted")"
            case .sum(let amount): "sum + \(amount)"
            case .mark(let element), .tag(let element): element.text
            case .other: "other"
            }
        }
    }

    /// Records that a copy of a client's file is made.
    mutating func remember(_ client: Int) {
        remembered[client] = entries.filter { $0.value.client == client }.mapValues(\.notes.count)
        rememberedElements[client] = Set(marks + tags)
    }

    /// The copy replaces the file: later writes are lost, unless the server has them.
    mutating func takeBackWrites(of client: Int) {
        takeBack { [remembered] key, entry in
            entry.client == client && remembered[client]?[key] != entry.notes.count
        }
        let known = rememberedElements[client] ?? []
        takenBackElements.formUnion(
            (marks + tags).filter { $0.client == client && !known.contains($0) }
        )
    }

    /// The server goes back to an older copy.
    mutating func takeBack(from now: LedgerAudit, to backup: LedgerAudit) {
        takeBack { key, _ in now.notes[key] != backup.notes[key] }
        let gone = now.elements.subtracting(backup.elements)
        takenBackElements.formUnion((marks + tags).filter { gone.contains($0.text) })
        lostTallies.formUnion(now.tallies.subtracting(backup.tallies))
    }

    /// Elements that must exist somewhere in the end.
    var lastingElements: [Element] {
        (marks + tags).filter {
            !takenBackElements.contains($0) && !lostTallies.contains($0.tally)
        }
    }

    private mutating func takeBack(where isTaken: (String, Entry) -> Bool) {
        takenBack.formUnion(entries.filter { isTaken($0.key, $0.value) }.keys)
    }

    /// The notes of the entries in a realm file; none if it has no such table.
    static func entries(on connection: Connection) throws -> [String: String?] {
        let tables = "SELECT count(*) FROM sqlite_schema WHERE name = 'Entry'"
        guard try connection.integer(tables) == 1 else { return [:] }
        var notes: [String: String?] = [:]
        for row in try connection.rows("SELECT _id, note FROM Entry") {
            guard case .text(let key) = row[0] else { continue }
            if case .text(let note) = row[1] {
                notes[key] = .some(note)
            } else {
                notes[key] = .some(nil)
            }
        }
        return notes
    }

    /// The marks and tags in a realm file; none if it has no such table.
    static func elements(on connection: Connection) throws -> [String] {
        let tables = "SELECT count(*) FROM sqlite_schema WHERE name = 'Tally'"
        guard try connection.integer(tables) == 1 else { return [] }
        let sql =
            "SELECT value FROM Tally, json_each(Tally.marks) UNION ALL SELECT value FROM Tally, json_each(Tally.tags)"
        return try connection.rows(sql).compactMap { row in
            guard case .text(let text) = row[0] else { return nil }
            return text
        }
    }

    /// Creates the objects that all programs change.
    mutating func begin(on connection: Connection) throws {
        try connection.execute("INSERT OR IGNORE INTO Tally(_id) VALUES (1), (2)")
    }

    /// One transaction of a client's program; false if it failed.
    mutating func write(
        _ client: Int,
        on connection: Connection,
        countsUp: Bool,
        using random: inout SplitMix64
    ) throws -> Bool {
        var changes: [Change] = []
        try connection.execute("BEGIN IMMEDIATE")
        do {
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let change = try change(client, changes, connection, countsUp, &random)
                if let change, connection.changes > 0 { changes.append(change) }
            }
        } catch {
            // Some errors have already rolled back.
            try? connection.execute("ROLLBACK")
            throw error
        }
        guard !changes.isEmpty, Int.random(in: 0..<20, using: &random) > 0 else {
            try connection.execute("ROLLBACK")
            return false
        }
        try connection.execute("COMMIT")
        for change in changes { take(change) }
        lastWrite = "\(changes)"
        return true
    }

    private mutating func take(_ change: Change) {
        writeCount += 1
        switch change {
        case .entry(let key, let entry): entries[key] = entry
        case .sum(let amount): sum += amount
        case .mark(let mark): marks.append(mark)
        case .tag(let tag): tags.append(tag)
        case .other: break
        }
    }

    private mutating func change(
        _ client: Int,
        _ earlier: [Change],
        _ connection: Connection,
        _ countsUp: Bool,
        _ random: inout SplitMix64
    ) throws -> Change? {
        let number = nextNumber
        nextNumber += 1
        let tally = Int64.random(in: 1...2, using: &random)
        switch Int.random(in: countsUp ? 0...10 : 1...10, using: &random) {
        case 0:
            let amount = Int64.random(in: -5...9, using: &random)
            guard amount != 0 else { return nil }
            try connection.run(
                "UPDATE Tally SET sum = sum + ?1 WHERE _id = ?2",
                [.integer(amount), .integer(tally)]
            )
            return .sum(amount)
        case 1:
            let mark = "mark-\(number)"
            try connection.run(
                "UPDATE Tally SET marks = json_insert(marks, '$[#]', ?1) WHERE _id = ?2",
                [.text(mark), .integer(tally)]
            )
            return .mark(Element(text: mark, client: client, tally: tally))
        case 2:
            let tag = "tag-\(number)"
            try connection.run(
                "UPDATE Tally SET tags = json_insert(tags, '$[#]', ?1) WHERE _id = ?2",
                [.text(tag), .integer(tally)]
            )
            return .tag(Element(text: tag, client: client, tally: tally))
        case 3:
            try connection.run(
                "UPDATE Tally SET text = ?1 WHERE _id = ?2",
                [.text("text-\(number)"), .integer(tally)]
            )
            return .other
        case 4:
            guard let key = entries.keys.sorted().randomElement(using: &random) else { return nil }
            try connection.run(
                "UPDATE Tally SET last = ?1 WHERE _id = ?2",
                [.text(key), .integer(tally)]
            )
            return .other
        case 5, 6, 7:
            return try changeEntry(client, earlier, connection, number, &random)
        default:
            let key = "entry-\(number)"
            try connection.run(
                "INSERT INTO Entry(_id, writer, note) VALUES (?1, ?2, ?3)",
                [.text(key), .integer(Int64(client)), .text("note-\(number)")]
            )
            return .entry(key, Entry(client: client, notes: ["note-\(number)"]))
        }
    }

    /// Changes or deletes an entry of the program's own.
    private func changeEntry(
        _ client: Int,
        _ earlier: [Change],
        _ connection: Connection,
        _ number: Int,
        _ random: inout SplitMix64
    ) throws -> Change? {
        var own = entries.filter { $0.value.client == client }
        for case .entry(let key, let entry) in earlier { own[key] = entry }
        guard let key = own.keys.sorted().randomElement(using: &random), var entry = own[key] else {
            return nil
        }
        if Int.random(in: 0..<3, using: &random) == 0 {
            try connection.run("DELETE FROM Entry WHERE _id = ?1", [.text(key)])
            entry.notes.append(nil)
        } else {
            let note = "note-\(number)"
            try connection.run(
                "UPDATE Entry SET note = ?1 WHERE _id = ?2",
                [.text(note), .text(key)]
            )
            entry.notes.append(note)
        }
        return .entry(key, entry)
    }
}
