/// A Swift file, as read by the rules of the architecture.
struct SourceFile {
    /// From the root of the project.
    let path: String
    let module: String
    let lines: [Line]

    struct Line {
        /// Counted from 1.
        let number: Int
        /// Without comments.
        let code: String
        /// Its identifiers, keywords and numbers.
        let words: [String]
    }

    init(path: String, module: String, text: String) {
        self.path = path
        self.module = module
        self.lines = Self.withoutComments(text).enumerated().map { index, code in
            Line(number: index + 1, code: code, words: Self.words(of: code))
        }
    }

    /// The modules it imports, whole or in part, with the line.
    var imports: [(module: String, line: Int)] {
        lines.compactMap { line in
            // A string may begin with the word.
            guard line.code.first(where: { $0 != " " }) != "\"",
                let position = line.words.firstIndex(of: "import"),
                line.words[..<position].allSatisfy(Self.mayPrecedeImport.contains)
            else { return nil }
            let imported = line.words[(position + 1)...]
                .drop { Self.kindsOfDeclaration.contains($0) }
            return imported.first.map { ($0, line.number) }
        }
    }

    /// The types it declares, at any depth.
    var types: [(name: String, line: Int)] {
        lines.flatMap { line in
            zip(line.words, line.words.dropFirst()).compactMap { keyword, name in
                Self.kindsOfType.contains(keyword) ? (name, line.number) : nil
            }
        }
    }

    private static let kindsOfType: Set = [
        "struct", "class", "enum", "actor", "protocol", "typealias",
    ]
    private static let kindsOfDeclaration = kindsOfType.union(["func", "let", "var"])
    private static let mayPrecedeImport: Set = [
        "testable", "preconcurrency", "public", "package", "internal", "fileprivate", "private",
    ]

    private static func words(of code: String) -> [String] {
        code.utf8.split { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
                false
            default: true
            }
        }.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Blanks out comments, so that lines keep their numbers; strings count as code.
    private static func withoutComments(_ text: String) -> [String] {
        var isInBlock = false
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            var code = ""
            var rest = line[...]
            while !rest.isEmpty {
                if isInBlock {
                    guard let end = rest.firstRange(of: "*/") else { return code }
                    rest = rest[end.upperBound...]
                    isInBlock = false
                } else {
                    guard rest.utf8.contains(UInt8(ascii: "/")) else { return code + rest }
                    let lineComment = rest.firstRange(of: "//")?.lowerBound ?? rest.endIndex
                    let block = rest.firstRange(of: "/*")?.lowerBound ?? rest.endIndex
                    code += rest[..<min(lineComment, block)]
                    guard block < lineComment else { return code }
                    rest = rest[rest.index(block, offsetBy: 2)...]
                    isInBlock = true
                }
            }
            return code
        }
    }
}
