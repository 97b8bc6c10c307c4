/// The lines of a specification's checklist, and the page that lists their tests.
enum Conformance {
    /// A test as named by the page.
    struct Reference: Hashable {
        /// Below `Tests`, without the suffix.
        let file: String
        let test: String
    }

    /// The names in front of the lines: `- [ ] H1 highest common version …`.
    static func checklist(_ specification: String) -> [String] {
        specification.split(separator: "\n").compactMap { line in
            guard line.hasPrefix("- [ ] ") else { return nil }
            let name = line.dropFirst(6).prefix { $0 != " " }
            return name.contains { $0.isNumber } ? String(name) : nil
        }
    }

    /// The same for a checklist without names: the beginnings of its lines, up to the first
    /// punctuation.
    static func openings(_ specification: String) -> [String] {
        specification.split(separator: "\n").compactMap { line in
            guard line.hasPrefix("- [ ] ") else { return nil }
            let opening = line.dropFirst(6).prefix { !":;,".contains($0) }
            return String(opening.last == "." ? opening.dropLast() : opening)
        }
    }

    /// The names of notes within the text of a section: `N1 \`access\`: … N2 …`.
    static func notes(_ specification: String, under heading: String) -> [String] {
        let section = specification.split(separator: "\n").drop { $0 != heading }.dropFirst()
            .prefix { !$0.hasPrefix("## ") }
        let words = section.joined(separator: " ").split { $0.isWhitespace }
        return words.filter { $0.wholeMatch(of: /N[1-9]/) != nil }.map(String.init)
    }

    /// The rows of one part of the page, by their first column: a line's name, or the first and the
    /// last of several.
    static func rows(_ page: String, under heading: String) -> [(lines: String, tests: String)] {
        let part = page.split(separator: "\n").drop { $0 != heading }.dropFirst()
            .prefix { !$0.hasPrefix("## ") }
        return part.compactMap { line in
            let columns = line.split(separator: " | ", maxSplits: 1)
            guard columns.count == 2, line.hasPrefix("| "), columns[0] != "| Line" else {
                return nil
            }
            return (String(columns[0].dropFirst(2)), String(columns[1]))
        }
    }

    /// The names in a first column: "X2 to X6" are five.
    static func lines(_ column: String) -> [String] {
        let ends = column.split(separator: " ")
        guard ends.count == 3, let first = Int(ends[0].dropFirst()),
            let last = Int(ends[2].dropFirst()), first <= last
        else { return [column] }
        return (first...last).map { "\(ends[0].prefix(1))\($0)" }
    }

    /// The references of a second column: `File` "test", "another"; `Other` "test".
    static func references(_ column: String) -> [Reference] {
        var file = ""
        var references: [Reference] = []
        for (position, part) in column.split(separator: "`", omittingEmptySubsequences: false)
            .enumerated()
        {
            guard position.isMultiple(of: 2) else {
                file = String(part)
                continue
            }
            for (place, name) in part.split(separator: "\"", omittingEmptySubsequences: false)
                .enumerated() where !place.isMultiple(of: 2)
            {
                references.append(Reference(file: file, test: String(name)))
            }
        }
        return references
    }
}
