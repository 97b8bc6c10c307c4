import Testing

/// The names of the sources, checked against `docs/GLOSSARY.md`.
@Suite("Glossary")
struct GlossaryTests {
    /// Names that may use an avoided word, and why.
    private static let allowed: [String: String] = [
        "badAnswer": "a handler gives an answer; the code is plugin.bad_answer",
        "healedUploads": "a member of the admin API",
        "malformedAnswer": "the code is agent.malformed_answer",
        "maximumAnswerSizeInBytes": "a handler gives an answer",
        "noAnswer": "the codes are agent.no_answer and server.no_answer",
    ]

    /// The number of other names that still use an avoided word. Lower a ceiling when names are
    /// corrected; a word that is not listed has the ceiling 0.
    private static let ceilings: [String: Int] = [
        "answer": 11,
        "answers": 2,
        "fact": 10,
        "healed": 1,
        "is over": 1,
        "late": 2,
        "lateness": 1,
        "news": 5,
        "notice": 5,
        "patience": 3,
        "patient": 1,
        "retryWhileBusy": 1,
        "refused write": 1,
        "reply": 5,
        "somebody": 2,
        "standing": 3,
        "undoing": 2,
        "undone": 2,
        "unsent": 1,
        "wish": 2,
        "word": 4,
    ]

    @Test("Names use the terms of docs/GLOSSARY.md")
    func names() throws {
        let glossary = Glossary(try Project.text(of: "docs/GLOSSARY.md"))
        #expect(glossary.entries.count > 40)
        let uses = glossary.uses(in: try Project.sources()).filter { Self.allowed[$0.name] == nil }
        for (avoided, uses) in Dictionary(grouping: uses, by: \.avoided) {
            let names = uses.map(\.name).joined(separator: ", ")
            #expect(
                uses.count <= Self.ceilings[avoided, default: 0],
                "use \"\(uses[0].term)\" instead of \"\(avoided)\" (docs/GLOSSARY.md): \(names)"
            )
        }
    }

    @Test("Exceptions and ceilings name words that the glossary avoids")
    func exceptions() throws {
        let glossary = Glossary(try Project.text(of: "docs/GLOSSARY.md"))
        let avoided = Set(glossary.entries.flatMap(\.avoided).map { $0.joined(separator: " ") })
        for word in Self.ceilings.keys { #expect(avoided.contains(word), "\(word)") }
        for name in Self.allowed.keys {
            let words = Glossary.words(of: name)
            #expect(avoided.contains { words.contains($0.split(separator: " ").map(String.init)) })
        }
    }

    @Test("A name with an avoided word is found, and named with the term")
    func sample() {
        let glossary = Glossary(
            """
            | term | meaning | not |
            |---|---|---|
            | changeset | instructions | `patch`, difference |
            | integrate | merges and applies | `takeIn` |
            """
        )
        #expect(glossary.entries.map(\.term) == ["changeset", "integrate"])
        let file = SourceFile(
            path: "A.swift",
            module: "A",
            text: """
                struct PatchReader { let dispatch = 0, difference = 1 }
                func takeInDownloads(patch: Int) {} // let patch
                enum E { case taken, in }
                """
        )
        #expect(
            glossary.uses(in: [file]) == [
                .init(name: "PatchReader", avoided: "patch", term: "changeset"),
                .init(name: "takeInDownloads", avoided: "take in", term: "integrate"),
            ]
        )
    }

    @Test("Names are split into words")
    func words() {
        #expect(Glossary.words(of: "lookAtTime") == ["look", "at", "time"])
        #expect(Glossary.words(of: "HTTPListener2") == ["http", "listener"])
        #expect(Glossary.words(of: "readURL") == ["read", "url"])
        #expect(Glossary.words(of: "SQLITE_BUSY") == ["sqlite", "busy"])
        #expect(Glossary.words(of: "_x") == ["x"])
    }
}
