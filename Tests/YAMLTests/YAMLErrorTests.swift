import Testing
import YAML

@Suite("YAML errors")
struct YAMLErrorTests {
    @Test(
        "A text that is not a document is refused with location and remedy",
        arguments: [
            (
                "a: b: c\n",
                """
                test.yaml:1:5: error: mapping values are not allowed in this context; \
                check the indentation, or quote the value if ": " belongs to it
                """
            ),
            (
                "a:\n\tb: 1\n",
                """
                test.yaml:2:1: error: found character that cannot start any token \
                (while scanning for the next token that begins on line 2); \
                indent with spaces, not tabs; quote a value that begins with "@", "`" or "%"
                """
            ),
            (
                "a: [1, 2\nb: 3\n",
                """
                test.yaml:2:2: error: did not find expected ',' or ']' \
                (while parsing a flow sequence that begins on line 1); \
                close the list with "]", and put a comma between its elements
                """
            ),
            (
                "a: {b: 1\n",
                """
                test.yaml:2:1: error: did not find expected ',' or '}' \
                (while parsing a flow mapping that begins on line 1); \
                close the mapping with "}", and put a comma between its entries
                """
            ),
            (
                "a: \"open\nb: 1\n",
                """
                test.yaml:3:1: error: found unexpected end of stream \
                (while scanning a quoted scalar that begins on line 1); close the quotes
                """
            ),
            (
                "a:\n  b: 1\n c: 2\n",
                """
                test.yaml:3:2: error: did not find expected key \
                (while parsing a block mapping that begins on line 1); \
                indent lines that belong together by the same number of spaces
                """
            ),
            (
                "a: 1\n---\nb: 2\n",
                """
                test.yaml:2:1: error: a second document begins here; \
                keep one document in a file, without "---" in between
                """
            ),
            (
                "a: *none\n",
                """
                test.yaml:1:4: error: no anchor "none" is defined before this alias; \
                define it with "&" above, or quote the value if "*" belongs to it
                """
            ),
            (
                "a: &x [1, *x]\n",
                """
                test.yaml:1:11: error: the alias "x" is inside its own anchor; \
                write the value out
                """
            ),
            (
                "a: &x {b: 1}\nc:\n  <<: *x\n",
                """
                test.yaml:3:3: error: merge keys (<<) are not part of YAML 1.2; \
                write the keys out
                """
            ),
            (
                "? [a, b]\n: 1\n",
                """
                test.yaml:1:3: error: a key is a list or a mapping; \
                use text as key; quote it if it begins with "[" or "{"
                """
            ),
            (
                "a: !vault secret\n",
                """
                test.yaml:1:4: error: unknown tag "!vault"; \
                remove the tag, or quote the value if "!" belongs to it
                """
            ),
        ]
    )
    func messages(text: String, message: String) {
        let error = #expect(throws: YAMLError.self) { try parse(text) }
        #expect(error?.description == message)
    }

    @Test("Bytes that are not UTF-8 are refused with their location")
    func encoding() {
        let error = #expect(throws: YAMLError.self) {
            try YAMLNode.parse(Array("a: 1\nä: ".utf8) + [0xff], file: "test.yaml")
        }
        #expect(error?.location == at(2, 4))
        #expect(error?.problem == .encoding("invalid leading UTF-8 octet"))
    }

    @Test("A NUL is refused, not taken for the end of the text")
    func nul() {
        let error = #expect(throws: YAMLError.self) { try parse("a: 1\nb: \0\nc: 2\n") }
        #expect(error?.location == at(2, 4))
    }
}

@Suite("YAML limits")
struct YAMLLimitsTests {
    private let limits = YAMLLimits(sizeInBytes: 1_000, depth: 3, nodes: 20)

    @Test("A file may have the largest size and no more")
    func size() throws {
        let text = "a: " + String(repeating: "x", count: 997)
        #expect(try parse(text, limits: limits) != nil)
        let error = #expect(throws: YAMLError.self) { try parse(text + "x", limits: limits) }
        #expect(error?.problem == .tooLarge(limitInBytes: 1_000))
    }

    @Test("Collections may be nested to the limit and no deeper")
    func depth() throws {
        #expect(try parse("[[[1]]]", limits: limits) != nil)
        let error = #expect(throws: YAMLError.self) { try parse("[[\n [[1]]]]", limits: limits) }
        #expect(error == YAMLError(at: at(2, 3), .tooDeep(limit: 3)))
    }

    @Test("The content of an alias counts towards the depth at its place")
    func depthOfAliases() throws {
        #expect(try parse("[&a [[1]], *a]", limits: limits) != nil)
        let error = #expect(throws: YAMLError.self) {
            try parse("[&a [[1]], [*a]]", limits: limits)
        }
        #expect(error == YAMLError(at: at(1, 13), .tooDeep(limit: 3)))
    }

    @Test("An alias counts as many values as its node")
    func nodes() throws {
        #expect(try parse("[&a [1, 2, 3, 4], *a, *a, 1, 2, 3, 4]", limits: limits) != nil)
        let error = #expect(throws: YAMLError.self) {
            try parse("[&a [1, 2, 3, 4], *a, *a, *a]", limits: limits)
        }
        #expect(error == YAMLError(at: at(1, 27), .tooManyNodes(limit: 20)))
    }

    @Test("Nine lines that expand to a billion values are refused at once")
    func bomb() {
        var text = "a: &a [x, x, x, x, x, x, x, x, x]\n"
        for (name, previous) in zip("bcdefghi", "abcdefgh") {
            let aliases = Array(repeating: "*\(previous)", count: 9).joined(separator: ", ")
            text += "\(name): &\(name) [\(aliases)]\n"
        }
        let error = #expect(throws: YAMLError.self) { try parse(text) }
        #expect(error?.problem == .tooManyNodes(limit: 200_000))
    }

    @Test("Brackets without end are refused by depth, not by exhaustion")
    func brackets() {
        for opening in ["[", "{", "- ", "? ", "[{", "{["] {
            let text = String(repeating: opening, count: 200_000 / opening.count)
            let error = #expect(throws: YAMLError.self) { try parse(text) }
            #expect(error?.problem == .tooDeep(limit: 50), "\(opening)")
        }
    }
}
