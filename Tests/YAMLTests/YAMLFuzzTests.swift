import TestSupport
import Testing
import YAML

/// For all bytes, the parser returns a document or an error inside the text.
@Suite("YAML on hostile input")
struct YAMLFuzzTests {
    private let sample = """
        version: 1   # comment
        agent: { data_directory: "/tmp/\\u00e9", log: { level: 'it''s' } }
        apps: &apps
          shop:
            - |
              literal
            - >-
              folded
            - !!str 5
        again: *apps
        ? complex
        : [a, {b: c}, "d\\x41"]

        """

    @Test("Every prefix of a document")
    func truncations() {
        let bytes = Array(sample.utf8)
        for count in 0...bytes.count {
            check(Array(bytes.prefix(count)), "prefix of \(count)")
        }
    }

    @Test("Single bytes replaced, inserted and removed")
    func mutations() {
        var random = SplitMix64(seed: 1)
        let bytes = Array(sample.utf8)
        for round in 0..<1_500 {
            var mutated = bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let position = Int.random(in: 0..<mutated.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: mutated[position] = UInt8.random(in: 0...255, using: &random)
                case 1: mutated.insert(Self.signs.randomElement(using: &random) ?? 0, at: position)
                default: mutated.remove(at: position)
                }
            }
            check(mutated, "round \(round)")
        }
    }

    @Test("Random bytes, and random characters with a meaning in YAML")
    func randomBytes() {
        var random = SplitMix64(seed: 2)
        for round in 0..<1_500 {
            let count = Int.random(in: 0...60, using: &random)
            let bytes = (0..<count).map { _ in
                round.isMultiple(of: 3)
                    ? UInt8.random(in: 0...255, using: &random)
                    : Self.signs.randomElement(using: &random) ?? 0
            }
            check(bytes, "round \(round)")
        }
    }

    private static let signs = Array("[]{}:,-?&*!|>'\"%@`#\n\n\t  ab0~<.\\\u{85}\u{feff}é".utf8)

    private func check(_ bytes: [UInt8], _ what: Comment) {
        do {
            _ = try YAMLNode.parse(bytes, file: "fuzz.yaml")
        } catch {
            let lines = bytes.reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
            #expect(error.location.line >= 1 && error.location.column >= 1, what)
            // Other line breaks than "\n" count too: each takes at least one byte.
            #expect(error.location.line <= max(lines, bytes.count + 1), what)
            #expect(!error.problem.description.isEmpty && !error.problem.remedy.isEmpty, what)
        }
    }
}
