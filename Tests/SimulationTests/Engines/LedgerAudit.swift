import Changesets
import Documents
import Schemas

/// The part of the ledger on the server.
struct LedgerAudit {
    /// The entries' notes.
    private(set) var notes: [String: String?] = [:]
    private(set) var sum: Int64 = 0
    private(set) var marks: [String] = []
    private(set) var tags: [String] = []
    /// The keys of the objects that contain them.
    private(set) var tallies: Set<Int64> = []

    var elements: Set<String> { Set(marks + tags) }

    init(_ realm: InMemoryRealm) {
        for (key, document) in realm.objects["Entry"] ?? [:] {
            guard case .string(let key) = key, let owner = realm.schema["Entry"] else { continue }
            var note: String?
            if case .scalar(.string(let text))? = document.value(of: "note", in: owner) {
                note = text.description
            }
            notes[key.description] = .some(note)
        }
        for (key, document) in realm.objects["Tally"] ?? [:] {
            guard case .int(let key) = key, let owner = realm.schema["Tally"] else { continue }
            tallies.insert(key)
            if case .scalar(.int(let number))? = document.value(of: "sum", in: owner) {
                sum += number
            }
            if case .list(let elements)? = document.value(of: "marks", in: owner) {
                marks += elements.compactMap(Self.text)
            }
            if case .set(let elements)? = document.value(of: "tags", in: owner) {
                tags += elements.elements.map(Value.scalar).compactMap(Self.text)
            }
        }
    }

    private static func text(_ value: Value) -> String? {
        guard case .scalar(.string(let text)) = value else { return nil }
        return text.description
    }

    /// Writes that are lost, duplicated, or undone again; empty if all is well.
    func faults(in ledger: Ledger) -> [String] {
        var faults: [String] = []
        for (key, entry) in ledger.entries.sorted(by: { $0.key < $1.key }) {
            switch (entry.latest, notes[key]) {
            case (nil, nil): break
            case (nil, .some): faults.append("\(key) was deleted, and is there")
            case (let note?, nil): faults.append("\(key) with \(note) is lost")
            case (let note?, .some(let found)):
                if found != note {
                    faults.append("\(key) has \(found ?? "nothing") for \(note)")
                }
            }
        }
        for key in notes.keys where ledger.entries[key] == nil {
            faults.append("\(key) was never written")
        }
        if sum != ledger.sum { faults.append("the sum is \(sum) for \(ledger.sum)") }
        let (ledgerMarks, ledgerTags) = (ledger.marks.map(\.text), ledger.tags.map(\.text))
        if marks.sorted() != ledgerMarks.sorted() {
            faults.append("the marks are \(marks.sorted()) for \(ledgerMarks.sorted())")
        }
        if tags.sorted() != ledgerTags.sorted() {
            faults.append("the tags are \(tags.sorted()) for \(ledgerTags.sorted())")
        }
        return faults
    }
}
