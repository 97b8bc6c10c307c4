/// Compares pages with the code.
enum Documentation {
    /// Links of a page to files beside it, without their fragments.
    static func relativeLinks(_ markdown: String) -> [String] {
        markdown.split(separator: "](").dropFirst().compactMap { rest in
            guard let end = rest.firstIndex(of: ")") else { return nil }
            let target = rest[..<end].prefix { $0 != "#" }
            return target.isEmpty || target.contains("://") ? nil : String(target)
        }
    }

    /// The codes that rows of tables explain.
    static func documentedCodes(_ markdown: String) -> Set<String> {
        Set(
            markdown.split(separator: "\n").compactMap { line in
                line.hasPrefix("| `") ? String(line.dropFirst(3).prefix { $0 != "`" }) : nil
            }
        )
    }

    /// The string literals of the code that are words with a dot, the first of them one of these.
    static func codes(in files: [SourceFile], firstWords: Set<String>) -> Set<String> {
        var codes: Set<String> = []
        for line in files.flatMap(\.lines) where line.code.utf8.contains(UInt8(ascii: "\"")) {
            let parts = line.code.split(separator: "\"", omittingEmptySubsequences: false)
            for (position, part) in parts.enumerated() where !position.isMultiple(of: 2) {
                let words = part.split(separator: ".", omittingEmptySubsequences: false)
                if words.count == 2, firstWords.contains(String(words[0])), isWord(words[1]),
                    !otherNames.contains(String(part))
                {
                    codes.insert(String(part))
                }
            }
        }
        return codes
    }

    /// Names of threads and files, which have the same form.
    private static let otherNames: Set = ["realm.commits", "config.json", "schema.json"]

    private static func isWord(_ text: Substring) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == UInt8(ascii: "_")
            }
    }
}
