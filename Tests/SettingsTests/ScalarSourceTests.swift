import TestSupport
import Testing
import YAML

@testable import Settings

@Suite("Places inside of values")
struct ScalarSourceTests {
    private static let values = [
        "a: one two   three\n", "a: one\n  two\n  three\n", "a: 'it''s ä ''x'''\n",
        "a: 'one\n  two\n\n  three'\n", #"a: "q \" ä \\ x""# + "\n",
        "a: \"one \\\n  two\n  three\\n four\"\n", "a: |\n  one\n    two\n\n  three ä b\n",
        "a: |2-\n   one\n  two\n", "a: >\n  one\n  two\n\n  three\n    more\n  last\n",
        "a: !!str 'one two'\n", "a: &x one\nb: *x\n", "a: >-\n\n  one\n  two\n",
        "a: { b: 1 }\n", "a: \"\\x41\\u00e4\\U0001f600 end\"\n",
    ]

    @Test("Each visible character is where the file has it", arguments: values)
    func characters(source: String) throws {
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false).map {
            Array($0.unicodeScalars)
        }
        _ = readValue(String(source.dropFirst(3))) { reader -> Int? in
            guard case .scalar(let scalar) = reader.node.content else { return nil }
            var offset = 0
            for character in scalar.text.unicodeScalars {
                defer { offset += String(character).utf8.count }
                guard !character.properties.isWhitespace else { continue }
                let place = reader.inside(atByte: offset).node.location
                let found = lines[place.line - 1][place.column - 1]
                // Escapes show as such.
                #expect(
                    found == character || found == "\\" || found == "'",
                    "\(character) at \(place), where \(found) is"
                )
            }
            return nil
        }
    }

    @Test("Places behind the end, and in values of an alias, do not trap")
    func hostile() {
        for source in Self.values {
            var random = SplitMix64(seed: UInt64(source.utf8.count))
            var bytes = Array(source.utf8)
            for _ in 0..<200 {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                bytes[index] = UInt8.random(in: 0...255, using: &random)
                for style in [
                    YAMLScalar.Style.plain, .singleQuoted, .doubleQuoted, .literal, .folded,
                ] {
                    var position = ScalarSource(
                        bytes,
                        style: style,
                        at: TextLocation(file: "f", line: 1, column: 4)
                    )
                    let place = position.place(of: 9, in: Array("one two three".utf8))
                    #expect(place.line >= 1 && place.column >= 1)
                }
            }
        }
    }
}
