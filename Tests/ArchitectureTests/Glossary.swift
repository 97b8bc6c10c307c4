/// The tables of `docs/GLOSSARY.md`: one word per idea, and the words not to use for it.
struct Glossary {
    struct Entry: Equatable {
        let term: String
        /// The words in backquotes, split: `takeIn` is "take", "in".
        let avoided: [[String]]
    }

    let entries: [Entry]

    /// Reads the rows of three cells, except headings.
    init(_ markdown: String) {
        entries = markdown.split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
            guard line.hasPrefix("| "), cells.count == 5 else { return nil }
            let term = Self.trimmed(cells[1])
            guard term != "term" else { return nil }
            let parts = cells[3].split(separator: "`", omittingEmptySubsequences: false)
            let avoided = parts.indices.filter { !$0.isMultiple(of: 2) }.map { parts[$0] }
            return Entry(term: term, avoided: avoided.map { Self.words(of: String($0)) })
        }
    }

    /// A name in the sources that uses an avoided word.
    struct Use: Equatable {
        let name: String
        let avoided: String
        let term: String
    }

    /// The declared names that use avoided words, each once, in order.
    func uses(in files: [SourceFile]) -> [Use] {
        let names = Set(files.flatMap(Self.declaredNames)).sorted()
        return names.flatMap { name in
            let words = Self.words(of: name)
            return entries.flatMap { entry in
                entry.avoided.filter { words.contains($0) }.map {
                    Use(name: name, avoided: $0.joined(separator: " "), term: entry.term)
                }
            }
        }
    }

    /// The words of a name in camel case, in lower case; digits and underscores separate words,
    /// too.
    static func words(of name: String) -> [String] {
        var words: [String] = []
        var word = ""
        let letters = Array(name)
        for (position, letter) in letters.enumerated() {
            let next = position + 1 < letters.count ? letters[position + 1] : " "
            let startsWord =
                letter.isUppercase && (word.last?.isLowercase == true || next.isLowercase)
            if !letter.isLetter || startsWord, !word.isEmpty {
                words.append(word.lowercased())
                word = ""
            }
            if letter.isLetter { word.append(letter) }
        }
        return word.isEmpty ? words : words + [word.lowercased()]
    }

    /// Names of types, functions, properties, variables and cases.
    private static func declaredNames(of file: SourceFile) -> [String] {
        file.lines.flatMap { line in
            zip(line.words, line.words.dropFirst()).compactMap { keyword, name in
                declaring.contains(keyword) ? name : nil
            }
        }
    }

    private static let declaring: Set = [
        "struct", "class", "enum", "actor", "protocol", "typealias", "func", "let", "var", "case",
    ]

    private static func trimmed(_ cell: Substring) -> String {
        cell.split(separator: " ").joined(separator: " ")
    }
}
