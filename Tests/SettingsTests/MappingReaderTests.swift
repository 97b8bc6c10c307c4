import Settings
import Testing

@Suite("Reading mappings")
struct MappingReaderTests {
    private struct App: Equatable {
        var id: String?
        var verify: Bool
        var port: Int?
    }

    private func readApp(_ text: String) -> (value: App?, messages: [String]) {
        read(text) { root in
            root.mapping { keys in
                keys.notYetSupported("proxy")
                return App(
                    id: keys.required("app_id") { $0.string() },
                    verify: keys.optional("verify", default: true) { $0.bool() },
                    port: keys.optional("port") { $0.integer() }
                )
            }
        }
    }

    @Test("Keys give values, and left-out ones their default")
    func values() {
        #expect(
            readApp("app_id: x\nverify: false\nport: 80\n")
                == (App(id: "x", verify: false, port: 80), [])
        )
        #expect(readApp("app_id: x\n") == (App(id: "x", verify: true, port: nil), []))
    }

    @Test("All mistakes are reported at once, in the order of the text")
    func allAtOnce() {
        let (_, messages) = readApp(
            """
            proxy: [1]
            verfy: false
            port: many
            zebra: 1
            verify: maybe
            """
        )
        #expect(
            messages == [
                "f.yaml:1:1: error: app_id: is missing; add it",
                "f.yaml:1:8: error: proxy: is not supported yet by this version; remove it",
                "f.yaml:2:1: error: verfy: unknown key; did you mean \"verify\"?",
                "f.yaml:3:7: error: port: found \"many\"; give a whole number",
                "f.yaml:4:1: error: zebra: unknown key; use app_id, verify or port",
                "f.yaml:5:9: error: verify: found \"maybe\"; give true or false",
            ]
        )
    }

    @Test("A required key that is misspelt is not reported as missing too")
    func misspelt() {
        #expect(
            readApp("app-id: x\n").messages
                == ["f.yaml:1:1: error: app-id: unknown key; did you mean \"app_id\"?"]
        )
    }

    @Test("An empty document is an empty mapping")
    func emptyDocument() {
        #expect(
            readApp("# nothing\n").messages == ["f.yaml:1:1: error: app_id: is missing; add it"]
        )
    }

    @Test("A document that is not a mapping is reported with what it is")
    func noMapping() {
        #expect(readApp("[1]") == (nil, ["f.yaml:1:1: error: found a list; give a mapping"]))
    }

    @Test("A document that is not YAML is reported like any other mistake")
    func syntax() {
        let (value, messages) = readApp("a: b: c")
        #expect(value == nil)
        #expect(messages.count == 1)
        #expect(messages.first?.hasPrefix("f.yaml:1:5: error: mapping values are not") == true)
    }

    @Test("A repeated key")
    func duplicates() {
        #expect(
            readApp("app_id: x\napp_id: y\n").messages == [
                "f.yaml:2:1: error: app_id: is repeated, first at f.yaml:1:1; "
                    + "keep one of the two"
            ]
        )
    }

    @Test(
        "A section may be left out, left empty, or filled in",
        arguments: [
            ("b: 1", "default", []), ("a:", "default", []), ("a: { x: y }", "y", []),
            ("a: 5", "default", ["f.yaml:1:4: error: a: found \"5\"; give a mapping"]),
            (
                "a: { y: 1 }", "default",
                ["f.yaml:1:6: error: a.y: unknown key; use x"]
            ),
        ] as [(String, String, [String])]
    )
    func sections(text: String, value: String, messages: [String]) {
        let result = read(text) { root in
            root.mapping { keys in
                _ = keys.contains("b") ? keys.optional("b") { $0.integer() } : nil
                return keys.section("a") { keys in
                    keys.optional("x", default: "default") { $0.string() }
                }
            }
        }
        #expect(result == (value, messages))
    }

    @Test("Free names, and paths through lists and unusual names")
    func entriesAndElements() {
        let (names, messages) = read("a: { b.c: [1, x], d: [y] }\n") { root in
            root.mapping { keys in
                keys.required("a") { value in
                    value.entries { entry in
                        _ = entry.value.elements { $0.integer() }
                        return entry.name
                    }
                }
            }
        }
        #expect(names == ["b.c", "d"])
        #expect(
            messages == [
                "f.yaml:1:15: error: a.\"b.c\"[1]: found \"x\"; give a whole number",
                "f.yaml:1:23: error: a.d[0]: found \"y\"; give a whole number",
            ]
        )
    }

    @Test("Diagnostics of several files follow the order in which the files were read")
    func order() {
        let diagnostics = DiagnosticCollector()
        for file in ["z.yaml", "a.yaml"] {
            if let node = diagnostics.parse(Array("x: 1\ny: 2\n".utf8), file: file) {
                _ = NodeReader(node, diagnostics: diagnostics).mapping { _ in true }
            }
        }
        #expect(
            diagnostics.diagnostics.map { "\($0.location)" }
                == ["z.yaml:1:1", "z.yaml:2:1", "a.yaml:1:1", "a.yaml:2:1"]
        )
        #expect(diagnostics.hasErrors)
    }
}
