import SchemaFiles
import Settings
import Testing

@Suite("Mistakes in schema files")
struct SchemaMistakeTests {
    @Test(
        "Invalid property types",
        arguments: [
            (
                "strng",
                "\"strng\": unknown type; did you mean \"string\"?"
            ),
            (
                "date",
                """
                "date": unknown type; use int, bool, string, binary, timestamp, float, double, \
                decimal, object_id, uuid, mixed, link<Class> or embedded<Class>, \
                or a list, set or dictionary of them
                """
            ),
            ("list<strng?>", "\"list<strng?>\": unknown type; did you mean \"string\"?"),
            ("list<string>?", "\"list<string>?\": a list is never null; remove the \"?\""),
            ("link<C>?", "\"link<C>?\": a link can always be null; remove the \"?\""),
            (
                "embedded<E>?",
                "\"embedded<E>?\": an embedded object can always be null; remove the \"?\""
            ),
            ("mixed?", "\"mixed?\": mixed can always be null; remove the \"?\""),
            (
                "list<set<int>>",
                """
                "list<set<int>>": a collection cannot hold collections; \
                use mixed for what is nested, or a list of embedded objects
                """
            ),
            (
                "set<embedded<E>>",
                """
                "set<embedded<E>>": a set cannot hold embedded objects; use list<embedded<E>>
                """
            ),
            (
                "link<C",
                "\"link<C\": is not a complete type; write link<…> with a class in between"
            ),
            (
                "list<>",
                "\"list<>\": is not a complete type; write list<…> with a type in between"
            ),
            ("link<D>", "there is no class \"D\"; declare it in this file"),
            ("link<Clas>", "there is no class \"Clas\"; did you mean \"Class\"?"),
            ("link<E>", "\"E\" is an embedded class; use embedded<E>"),
            ("embedded<C>", "\"C\" is a top-level class; use link<C>"),
            ("list<link<A>>", "nothing can link to \"A\", which is asymmetric; remove the link"),
        ]
    )
    func types(type: String, message: String) {
        let (declaration, diagnostics) = parse(
            """
            classes:
              C: { primary_key: id, properties: { id: int } }
              Class: { primary_key: id, properties: { id: int } }
              E: { embedded: true, properties: {} }
              A: { asymmetric: true, primary_key: id, properties: { id: int } }
              F:
                primary_key: id
                properties:
                  id: int
                  p: "\(type)"
            """
        )
        #expect(declaration == nil)
        #expect(
            diagnostics.map(\.description) == [
                "s.yaml:10:10: error: classes.F.properties.p: \(message)"
            ]
        )
    }

    @Test(
        "A class that contradicts itself",
        arguments: [
            (
                "{ properties: { id: int } }",
                """
                s.yaml:1:14: error: classes.C: has no primary key; \
                name a property in "primary_key", or make the class embedded
                """
            ),
            (
                "{ primary_key: _id, properties: { id: int } }",
                """
                s.yaml:1:29: error: classes.C.primary_key: the class has no property "_id"; \
                did you mean "id"?
                """
            ),
            (
                "{ primary_key: id, properties: { id: list<int> } }",
                """
                s.yaml:1:51: error: classes.C.properties.id: list<int> cannot identify objects; \
                make the primary key an int, string, object_id or uuid
                """
            ),
            (
                "{ primary_key: id, properties: { id: bool } }",
                """
                s.yaml:1:51: error: classes.C.properties.id: bool cannot identify objects; \
                make the primary key an int, string, object_id or uuid
                """
            ),
            (
                "{ primary_key: id, properties: { id: { type: int, counter: true } } }",
                """
                s.yaml:1:59: error: classes.C.properties.id.type: a primary key never changes \
                and has no default; remove "counter" and "default"
                """
            ),
            (
                "{ embedded: true, primary_key: id, properties: { id: int } }",
                """
                s.yaml:1:45: error: classes.C.primary_key: an embedded class has no primary key; \
                remove it, or "embedded"
                """
            ),
            (
                "{ embedded: true, asymmetric: true, properties: { id: int } }",
                """
                s.yaml:1:14: error: classes.C: is both embedded and asymmetric; \
                keep one of the two
                """
            ),
            (
                "{ embedded: true }",
                "s.yaml:1:14: error: classes.C.properties: is missing; add it"
            ),
            (
                "{ embedded: true, properties: {}, propertys: 1 }",
                """
                s.yaml:1:48: error: classes.C.propertys: unknown key; did you mean "properties"?
                """
            ),
            ("[]", "s.yaml:1:14: error: classes.C: found a list; give a mapping"),
        ]
    )
    func classes(text: String, message: String) {
        let (declaration, diagnostics) = parse("classes: {C: \(text)}")
        #expect(declaration == nil)
        #expect(diagnostics.map(\.description).first == message)
    }

    @Test(
        "Defaults and counters that do not fit their type",
        arguments: [
            (
                "{ type: string, counter: true }", "schema.bad_counter",
                "string cannot be a counter; make the property an int, or remove \"counter\""
            ),
            (
                "{ type: list<int>, default: 1 }", "schema.bad_default",
                "list<int> cannot have a default; remove \"default\""
            ),
            ("{ type: int, default: x }", "config.wrong_type", "found \"x\"; give a whole number"),
            (
                "{ type: int, default: ~ }", "config.wrong_type",
                "is empty; give a whole number, or remove the key"
            ),
            ("{ type: bool, default: 1 }", "config.wrong_type", "found \"1\"; give true or false"),
            (
                "{ type: timestamp, default: noon }", "schema.bad_default",
                "must be a timestamp such as 2026-03-04T05:06:07Z; correct or remove it"
            ),
            (
                "{ type: decimal, default: 1e9999 }", "schema.bad_default",
                "is outside the range of decimals (exponents -6176 to 6111); correct or remove it"
            ),
            (
                "{ type: double, default: much }", "schema.bad_default",
                "must be a number, or the text NaN; correct or remove it"
            ),
            (
                "{ type: binary, default: '!' }", "schema.bad_default",
                "is not base64; give the bytes in base64"
            ),
            (
                "{ type: uuid, default: 12 }", "schema.bad_default",
                """
                must be a UUID in lower case, such as '3b241101-e2bb-4255-8caf-4136c566a962'; \
                correct or remove it
                """
            ),
        ]
    )
    func details(property: String, code: String, message: String) {
        let (declaration, diagnostics) = parse(
            "classes: {C: {primary_key: id, properties: {id: int, p: \(property)}}}"
        )
        #expect(declaration == nil)
        #expect(diagnostics.map(\.code.word) == [code])
        #expect(diagnostics.map { "\($0.problem); \($0.remedy)" } == [message])
    }

    @Test("Names may be as long as the format allows, in bytes, and no longer")
    func names() {
        func codes(className: String, property: String) -> [String] {
            let (_, diagnostics) = parse(
                """
                classes:
                  "\(className)": { embedded: true, properties: { "\(property)": int } }
                """
            )
            return diagnostics.map(\.description)
        }
        let class57 = String(repeating: "ä", count: 28) + "x"
        let property63 = String(repeating: "ä", count: 31) + "x"
        #expect(codes(className: class57, property: property63) == [])
        #expect(
            codes(className: class57 + "y", property: property63 + "y") == [
                """
                s.yaml:2:3: error: classes.\(class57)y: the name of a class has 58 bytes; \
                use at most 57
                """,
                """
                s.yaml:2:69: error: classes.\(class57)y.properties.\(property63)y: \
                the name of a property has 64 bytes; use at most 63
                """,
            ]
        )
        #expect(codes(className: "", property: "a\\nb").count == 2)
    }

    @Test("All mistakes of a file are reported at once")
    func allAtOnce() {
        let (_, diagnostics) = parse(
            """
            classes:
              A: { primary_key: id, properties: { id: int, b: link<X>, c: nothing } }
              B: { properties: { x: int } }
              A: { embedded: true, properties: {} }
            version: 1
            """
        )
        #expect(
            diagnostics.map(\.code.word) == [
                "schema.unknown_class", "schema.bad_type", "schema.bad_primary_key",
                "config.duplicate_key", "config.unknown_key",
            ]
        )
    }

    @Test("A file without classes is refused with what it lacks", arguments: ["", "classes", "[]"])
    func noClasses(text: String) {
        let (declaration, diagnostics) = parse(text)
        #expect(declaration == nil)
        #expect(diagnostics.count == 1)
    }
}
