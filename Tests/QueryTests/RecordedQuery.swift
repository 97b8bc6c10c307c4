import Changesets
import Documents
import Query
import Schemas
import TestSupport
import Testing

/// One line of the recorded queries.
struct RecordedQuery {
    let name: String
    let className: Text
    let text: Text
    let isAccepted: Bool
    let kind: String?
    let quirk: String?
    let canonical: Text?
    let matches: [ObjectKey]?
    let reparsed: Text?
    let isReparseRefused: Bool
    let reparsedMatches: [ObjectKey]?

    init(_ line: JSONNode) throws {
        try self.init(
            line,
            name: line["name"]?.string ?? "?",
            className: #require(line["class"]?.bytesText)
        )
    }

    init(_ line: JSONNode, name: String, className: Text) throws {
        self.name = name
        self.className = className
        text = try #require(line["text"]?.bytesText)
        isAccepted = try #require(line["ok"]?.bool as Bool?)
        kind = line["kind"]?.string
        quirk = line["quirk"]?.string
        canonical = line["canonical"]?.bytesText
        matches = try line["matches"]?.elements?.map { try VectorReader.key($0) }
        reparsed = line["reparsed"]?.bytesText
        isReparseRefused = line["reparse_error"] != nil
        reparsedMatches = try line["reparsed_matches"]?.elements?.map { try VectorReader.key($0) }
    }

    /// The differences from the recording: the word before the colon names the aspect.
    func failures(in realm: VectorRealm) -> [String] {
        let result = Result { () throws(QueryError) in try check(text, realm) }
        guard case .success(let query) = result else {
            guard case .failure(let error) = result else { return [] }
            if isAccepted { return ["refused: \(text) -> \(error)"] }
            let isSyntax = error.code == .syntax
            return isSyntax == (kind == "syntax") ? [] : ["code: \(kind ?? "") \(text) -> \(error)"]
        }
        guard isAccepted else { return ["accepted: \(kind ?? "") \(text)"] }
        var failures: [String] = []
        let found = keys(of: query, realm)
        if found != matches {
            failures.append("matches: \(text) -> \(found.count) not \(matches?.count ?? -1)")
        }
        let written = CanonicalText.write(query)
        if !Self.areEqual(written, canonical?.bytes ?? []) {
            failures.append("canonical: \(text) -> \(Text(bytes: written)) not \(canonical ?? "")")
        }
        guard let canonical else { return failures }
        // The same text would have the same result.
        let isNew =
            canonical != text || isReparseRefused || reparsed != nil || reparsedMatches != nil
        guard isNew else { return failures }
        let again = Result { () throws(QueryError) in try check(canonical, realm) }
        switch again {
        case .failure(let error):
            if !isReparseRefused { failures.append("reparse refused: \(canonical) -> \(error)") }
        case .success(let query):
            guard !isReparseRefused else { return failures + ["reparse accepted: \(canonical)"] }
            let found = keys(of: query, realm)
            let expected = reparsedMatches ?? matches
            if found != expected {
                failures.append(
                    "reparsed matches: \(canonical) -> \(found.count) not \(expected?.count ?? -1)"
                )
            }
            let rewritten = CanonicalText.write(query)
            if !Self.areEqual(rewritten, (reparsed ?? canonical).bytes) {
                failures.append(
                    "reparsed canonical: \(canonical) -> \(Text(bytes: rewritten)) not \(reparsed ?? canonical)"
                )
            }
        }
        return failures
    }

    private func check(_ text: Text, _ realm: VectorRealm) throws(QueryError) -> CheckedQuery {
        try QueryChecker.check(QueryParser.parse(text.bytes), of: className, in: realm.schema)
    }

    private func keys(of query: CheckedQuery, _ realm: VectorRealm) -> [ObjectKey] {
        let evaluator = QueryEvaluator(query)
        let matching = realm.objects(of: className).filter { evaluator.matches($0) }
        return QueryOrdering(query).arrange(matching).map(\.row.reference.key)
    }

    /// Equal except for the order after each `IN {`, which is that of a hash table.
    private static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left == right
            || left.count == right.count && withoutSetOrder(left) == withoutSetOrder(right)
    }

    /// The text with the elements after each `IN {` sorted.
    private static func withoutSetOrder(_ text: [UInt8]) -> [UInt8] {
        let opening = Array(" IN {".utf8)
        var result: [UInt8] = []
        var rest = text[...]
        while let byte = rest.first {
            if rest.starts(with: opening) {
                let content = rest.dropFirst(opening.count)
                var elements: [[UInt8]] = [[]]
                var isQuoted = false
                var end = content.startIndex
                while end < content.endIndex, isQuoted || content[end] != UInt8(ascii: "}") {
                    if content[end] == UInt8(ascii: "\"") { isQuoted.toggle() }
                    if !isQuoted, content[end] == UInt8(ascii: ",") {
                        elements.append([])
                    } else if isQuoted || content[end] != UInt8(ascii: " ") {
                        elements[elements.count - 1].append(content[end])
                    }
                    end += 1
                }
                elements.sort { $0.lexicographicallyPrecedes($1) }
                result += opening + elements.joined(separator: [UInt8(ascii: ",")])
                rest = content[end...]
            } else {
                result.append(byte)
                rest = rest.dropFirst()
            }
        }
        return result
    }
}
