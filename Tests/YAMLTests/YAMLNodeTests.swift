import Testing
import YAML

@Suite("YAML nodes")
struct YAMLNodeTests {
    @Test("Every node knows its line and column, counted from 1 in characters")
    func locations() throws {
        let root = try #require(
            try parse(
                """
                # a comment
                apps:
                  shöp: { app_id: x, "base_url": 'y' }
                  list:
                    - one
                    - [two, "thrée", four]
                """
            )
        )
        let apps = try #require(entry("apps", of: root))
        #expect(apps.keyLocation == at(2, 1))
        #expect(apps.value.location == at(3, 3))
        let shop = try #require(entry("shöp", of: apps.value))
        #expect(shop.keyLocation == at(3, 3))
        #expect(shop.value.location == at(3, 9))
        #expect(entry("base_url", of: shop.value)?.keyLocation == at(3, 22))
        #expect(entry("base_url", of: shop.value)?.value.location == at(3, 34))
        let list = elements(of: entry("list", of: apps.value)?.value)
        #expect(list.map(\.location) == [at(5, 7), at(6, 7)])
        #expect(elements(of: list.last).map(\.location) == [at(6, 8), at(6, 13), at(6, 22)])
    }

    @Test("Scalars keep their text and style, even if they look like another type")
    func scalars() throws {
        let root = try parse("[no, 1e3, 'a', \"b\\n\", 007]\n")
        #expect(
            elements(of: root).map(\.content) == [
                .scalar(YAMLScalar("no")),
                .scalar(YAMLScalar("1e3")),
                .scalar(YAMLScalar("a", style: .singleQuoted)),
                .scalar(YAMLScalar("b\n", style: .doubleQuoted)),
                .scalar(YAMLScalar("007")),
            ]
        )
        let block = try parse("a: |\n  x\n  y\nb: >\n  x\n  y\n")
        #expect(
            entry("a", of: block)?.value.content
                == .scalar(YAMLScalar("x\ny\n", style: .literal))
        )
        #expect(
            entry("b", of: block)?.value.content == .scalar(YAMLScalar("x y\n", style: .folded))
        )
    }

    @Test(
        "An empty or null scalar is null, unless quoted or tagged",
        arguments: [
            ("a:", true), ("a: ~", true), ("a: null", true), ("a: !!null x", true),
            ("a: ''", false), ("a: 'null'", false), ("a: !!str null", false), ("a: ! ~", false),
            ("a: nil", false), ("a: {}", false),
        ]
    )
    func nulls(text: String, isNull: Bool) throws {
        #expect(entry("a", of: try parse(text))?.value.isNull == isNull)
    }

    @Test(
        "A text without content has no document",
        arguments: ["", "\n", "# nothing\n", "\u{feff}"]
    )
    func empty(text: String) throws {
        #expect(try parse(text) == nil)
    }

    @Test("A byte order mark does not move the first column")
    func byteOrderMark() throws {
        #expect(entry("a", of: try parse("\u{feff}a: 1"))?.keyLocation == at(1, 1))
    }

    @Test("A repeated key is kept once, and reported with both locations")
    func duplicateKeys() throws {
        let root = try #require(try parse("a: 1\nb: 2\n\"a\": 3\na: 4\n"))
        guard case .mapping(let mapping) = root.content else {
            Issue.record("not a mapping")
            return
        }
        #expect(mapping.entries.map(\.key) == ["a", "b"])
        #expect(mapping["a"]?.value.content == .scalar(YAMLScalar("1")))
        #expect(
            mapping.duplicates == [
                .init(key: "a", location: at(3, 1), first: at(1, 1)),
                .init(key: "a", location: at(4, 1), first: at(1, 1)),
            ]
        )
    }

    @Test("An alias is replaced by its anchor's node, with the location of the original")
    func aliases() throws {
        let root = try parse("a: &x [1, 2]\nb: *x\n")
        #expect(entry("b", of: root)?.value == entry("a", of: root)?.value)
        #expect(entry("b", of: root)?.value.location == at(1, 4))
    }

    @Test("The tags of the core schema are kept")
    func tags() throws {
        let root = try parse("[!!str 5, !!int '5', ! x, y]")
        #expect(elements(of: root).map(\.tag) == [.string, .integer, .nonSpecific, nil])
    }
}

func parse(_ text: String, limits: YAMLLimits = .standard) throws(YAMLError) -> YAMLNode? {
    try YAMLNode.parse(Array(text.utf8), file: "test.yaml", limits: limits)
}

func at(_ line: Int, _ column: Int) -> TextLocation {
    TextLocation(file: "test.yaml", line: line, column: column)
}

func entry(_ key: String, of node: YAMLNode?) -> YAMLMapping.Entry? {
    guard case .mapping(let mapping) = node?.content else { return nil }
    return mapping[key]
}

func elements(of node: YAMLNode?) -> [YAMLNode] {
    guard case .sequence(let elements) = node?.content else { return [] }
    return elements
}
