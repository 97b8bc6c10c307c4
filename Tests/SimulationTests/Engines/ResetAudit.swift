import FoundationEssentials
import JSON
import SQLite

/// The files kept by the resets of one machine: discarded changes, and copies of the whole realm.
struct ResetExports {
    /// The notes that were kept of an entry; nil for an entry that was deleted.
    private(set) var notes: [String: Set<String?>] = [:]
    /// Entries in copies of the whole realm, one set for each.
    private var copies: [[String: String?]] = []
    /// Marks and tags in either.
    private(set) var elements: Set<String> = []
    private(set) var fileCount = 0

    struct Unreadable: Error {
        let path: String
        let line: String
    }

    init(in directory: String) throws {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        for name in names.sorted() {
            let path = "\(directory)/\(name)"
            if name.hasSuffix(".jsonl") {
                try readLines(path)
                fileCount += 1
            } else if name.hasSuffix(".sqlite") {
                let copy = try Connection(path: path)
                copies.append(try Ledger.entries(on: copy))
                elements.formUnion(try Ledger.elements(on: copy))
                fileCount += 1
            }
        }
    }

    private mutating func readLines(_ path: String) throws {
        let text = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        for line in text.split(separator: "\n") {
            guard
                let object = try? JSONDecoder().decode(Line.self, from: Data(line.utf8))
            else { throw Unreadable(path: path, line: String(line)) }
            elements.formUnion(object.elements)
            guard object.class == "Entry" else { continue }
            // The key as an SQL literal.
            let key = String(object.key.dropFirst().dropLast())
            notes[key, default: []].insert(object.isDeleted ? nil : object.object?.note)
        }
    }

    private struct Line: Decodable {
        struct Entry: Decodable {
            let note: String?
        }

        struct Tally: Decodable {
            let marks: [String]
            let tags: [String]
        }

        let `class`: String
        let key: String
        let isDeleted: Bool
        let object: Entry?
        let elements: [String]

        enum CodingKeys: CodingKey {
            case `class`, key, isDeleted, object
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            self.class = try container.decode(String.self, forKey: .class)
            key = try container.decode(String.self, forKey: .key)
            isDeleted = try container.decode(Bool.self, forKey: .isDeleted)
            object =
                self.class == "Entry"
                ? try container.decode(Entry?.self, forKey: .object) : nil
            let tally =
                self.class == "Tally"
                ? try container.decode(Tally?.self, forKey: .object) : nil
            elements = (tally?.marks ?? []) + (tally?.tags ?? [])
        }
    }

    /// Whether these files contain the last state of an entry by its program.
    func hold(_ key: String, _ note: String?) -> Bool {
        if notes[key]?.contains(note) == true { return true }
        return copies.contains { copy in copy[key] ?? nil == note }
    }
}

extension LedgerAudit {
    /// Committed writes that are neither here nor in the exports of their machines, and entries
    /// that no program wrote. Writes taken back by an operator do not count, and neither do sums:
    /// an increment that had arrived without an acknowledgement counts twice (client reset, 6.1).
    func losses(in ledger: Ledger, exports: [ResetExports]) -> [String] {
        entryLosses(in: ledger, exports) + elementLosses(in: ledger, exports)
    }

    /// Elements are only ever added, each once; a duplicate is not a loss, as with increments.
    private func elementLosses(in ledger: Ledger, _ exports: [ResetExports]) -> [String] {
        let here = elements
        let lost = ledger.lastingElements.filter {
            !here.contains($0.text) && !exports[$0.client].elements.contains($0.text)
        }
        let written = Set((ledger.marks + ledger.tags).map(\.text))
        return lost.map { "\($0.text) of client \($0.client) on \($0.tally) is nowhere" }
            + here.subtracting(written).sorted().map { "\($0) was never written" }
    }

    private func entryLosses(in ledger: Ledger, _ exports: [ResetExports]) -> [String] {
        var losses: [String] = []
        for (key, entry) in ledger.entries.sorted(by: { $0.key < $1.key })
        where !ledger.takenBack.contains(key) {
            let found: String? = notes[key] ?? nil
            if found == entry.latest { continue }
            let wanted = entry.latest ?? "its deletion"
            if !exports[entry.client].hold(key, entry.latest) {
                losses.append(
                    "\(key) of client \(entry.client) has \(found ?? "nothing"), "
                        + "and \(wanted) is nowhere"
                )
            } else if let found, !entry.notes.contains(found) {
                losses.append("\(key) has \(found), which no program wrote")
            }
        }
        for key in notes.keys.sorted() where ledger.entries[key] == nil {
            losses.append("\(key) was never written")
        }
        return losses
    }
}
