import Settings
import Testing

@Suite("Reading scalars")
struct ScalarReadingTests {
    @Test(
        "A string is its text, even if it looks like another type",
        arguments: [("no", "no"), ("007", "007"), ("'null'", "null"), ("!!str 5", "5")]
    )
    func strings(text: String, value: String) {
        #expect(readValue(text) { $0.string() } == (value, []))
    }

    @Test(
        "A value that is not a string is reported with what it is",
        arguments: [
            ("[x]", "f.yaml:1:4: error: a: found a list; give a string"),
            ("{b: x}", "f.yaml:1:4: error: a: found a mapping; give a string"),
            ("~", "f.yaml:1:4: error: a: is empty; give a string, or remove the key"),
            ("''", "f.yaml:1:4: error: a: is an empty string; give at least one character"),
        ]
    )
    func badStrings(text: String, message: String) {
        #expect(readValue(text) { $0.string() } == (nil, [message]))
    }

    @Test(
        "A boolean is true or false, and none of the other words of YAML 1.1",
        arguments: [
            ("true", true, nil), ("False", false, nil), ("!!bool 'true'", true, nil),
            ("yes", nil, "f.yaml:1:4: error: a: found \"yes\"; give true or false"),
            ("1", nil, "f.yaml:1:4: error: a: found \"1\"; give true or false"),
            ("'true'", nil, "f.yaml:1:4: error: a: found a string; remove the quotes"),
        ] as [(String, Bool?, String?)]
    )
    func bools(text: String, value: Bool?, message: String?) {
        #expect(readValue(text) { $0.bool() } == (value, message.map { [$0] } ?? []))
    }

    @Test(
        "Whole numbers",
        arguments: [
            ("5", 5, nil), ("-3", -3, nil), ("!!int '7'", 7, nil),
            ("'5'", nil, "f.yaml:1:4: error: a: found a string; give a whole number"),
            ("5.0", nil, "f.yaml:1:4: error: a: found \"5.0\"; give a whole number"),
            (
                "99999999999999999999", nil,
                "f.yaml:1:4: error: a: found \"99999999999999999999\"; give a whole number"
            ),
            ("101", nil, "f.yaml:1:4: error: a: 101 is out of range; give a value from -3 to 100"),
        ] as [(String, Int?, String?)]
    )
    func integers(text: String, value: Int?, message: String?) {
        #expect(
            readValue(text) { $0.integer(in: -3...100) } == (value, message.map { [$0] } ?? [])
        )
    }

    @Test(
        "Numbers",
        arguments: [
            ("2", 2.0, nil), ("0.25", 0.25, nil), ("1e1", 10.0, nil),
            ("nan", nil, "f.yaml:1:4: error: a: found \"nan\"; give a number"),
            ("0x1p3", nil, "f.yaml:1:4: error: a: found \"0x1p3\"; give a number"),
            ("1e999", nil, "f.yaml:1:4: error: a: found \"1e999\"; give a number"),
            ("10.5", nil, "f.yaml:1:4: error: a: 10.5 is out of range; give a value from 0 to 10"),
        ] as [(String, Double?, String?)]
    )
    func numbers(text: String, value: Double?, message: String?) {
        #expect(readValue(text) { $0.number(in: 0...10) } == (value, message.map { [$0] } ?? []))
    }

    @Test(
        "Durations",
        arguments: [
            ("20ms", .milliseconds(20), nil), ("30s", .seconds(30), nil),
            ("1h30m", .seconds(5_400), nil),
            (
                "30", nil,
                """
                f.yaml:1:4: error: a: 30 has no unit; \
                give a duration such as 500ms, 30s, 5m, 2h or 7d
                """
            ),
            (
                "5 minutes", nil,
                """
                f.yaml:1:4: error: a: "5 minutes" is not a duration; \
                give a duration such as 500ms, 30s, 5m, 2h or 7d
                """
            ),
            (
                "8d", nil,
                "f.yaml:1:4: error: a: 8d is out of range; give a value from 1ms to 7d"
            ),
        ] as [(String, Duration?, String?)]
    )
    func durations(text: String, value: Duration?, message: String?) {
        let range = Duration.milliseconds(1)...Duration.seconds(7 * 86_400)
        #expect(
            readValue(text) { $0.duration(in: range) } == (value, message.map { [$0] } ?? [])
        )
    }

    @Test(
        "Sizes",
        arguments: [
            ("512", 512, nil), ("10MiB", 10 << 20, nil), ("1GB", 1_000_000_000, nil),
            (
                "10 apples", nil,
                """
                f.yaml:1:4: error: a: "10 apples" is not a size; \
                give a size such as 64KiB or 10MiB
                """
            ),
            ("0", nil, "f.yaml:1:4: error: a: 0B is out of range; give a value from 1B to 1GiB"),
        ] as [(String, Int?, String?)]
    )
    func sizes(text: String, value: Int?, message: String?) {
        #expect(
            readValue(text) { $0.size(in: 1...1 << 30) } == (value, message.map { [$0] } ?? [])
        )
    }

    private enum Color: String, CaseIterable {
        case red, green, deepBlue = "deep-blue"
    }

    @Test(
        "An enumeration",
        arguments: [
            ("green", nil), ("'deep-blue'", nil),
            (
                "deep_blue",
                "f.yaml:1:4: error: a: \"deep_blue\" is not one of the choices; "
                    + "did you mean \"deep-blue\"?"
            ),
            (
                "violet",
                "f.yaml:1:4: error: a: \"violet\" is not one of the choices; "
                    + "use red, green or deep-blue"
            ),
            (
                "ultraviolet",
                "f.yaml:1:4: error: a: \"ultraviolet\" is not supported yet by this version; "
                    + "use red, green or deep-blue"
            ),
        ] as [(String, String?)]
    )
    func choices(text: String, message: String?) {
        let (value, messages) = readValue(text) {
            $0.choice(of: Color.self, later: ["ultraviolet"])
        }
        #expect((value == nil) == (message != nil))
        #expect(messages == (message.map { [$0] } ?? []))
    }

    @Test(
        "Absolute paths are normalised",
        arguments: [
            ("/var/lib/x", "/var/lib/x"), ("/var//lib/./x/", "/var/lib/x"), ("/", "/"),
            ("/ä/b c", "/ä/b c"), ("var/lib", nil), ("/var/../etc", nil), ("\"/a\\0b\"", nil),
            ("~", nil),
        ] as [(String, String?)]
    )
    func paths(text: String, value: String?) {
        let (path, messages) = readValue(text) { $0.absolutePath() }
        #expect(path == value)
        #expect(messages.isEmpty == (value != nil))
    }
}

@Suite("Secrets by reference")
struct SecretReadingTests {
    @Test("The three possible locations of a secret")
    func references() {
        #expect(
            readValue("{ credential: till-7 }") { $0.secret() }.value == .credential(name: "till-7")
        )
        #expect(readValue("{ file: /etc//x }") { $0.secret() }.value == .file(path: "/etc/x"))
        #expect(readValue("{ env: A_1 }") { $0.secret() }.value == .environment(variable: "A_1"))
    }

    @Test("A reference prints as written")
    func descriptions() {
        for text in ["{ credential: till-7 }", "{ file: /etc/x }", "{ env: A_1 }"] {
            #expect(readValue(text) { $0.secret() }.value?.description == text)
        }
    }

    @Test("A secret in the text is refused, and shown nowhere")
    func plain() {
        let (value, messages) = readValue("hunter2") { $0.secret() }
        #expect(value == nil)
        #expect(
            messages == [
                """
                f.yaml:1:4: error: a: the file must not contain a secret; put it into a file that \
                only the program can read, and give { credential: NAME }, { file: PATH } or \
                { env: NAME }
                """
            ]
        )
    }

    @Test(
        "A reference names exactly one possible location",
        arguments: [
            (
                "{}",
                "f.yaml:1:4: error: a: is empty; "
                    + "give { credential: NAME }, { file: PATH } or { env: NAME }"
            ),
            (
                "{ file: /x, env: X }",
                "f.yaml:1:4: error: a: file and env exclude each other; "
                    + "give { credential: NAME }, { file: PATH } or { env: NAME }"
            ),
            (
                "{ credential: ../x }",
                "f.yaml:1:18: error: a.credential: \"../x\" is malformed; "
                    + "give the name of a systemd credential"
            ),
            (
                "{ env: 1X }",
                "f.yaml:1:11: error: a.env: \"1X\" is malformed; "
                    + "give the name of an environment variable"
            ),
        ]
    )
    func badReferences(text: String, message: String) {
        #expect(readValue(text) { $0.secret() } == (nil, [message]))
    }
}
