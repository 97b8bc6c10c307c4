import Changesets
import Documents
import FoundationEssentials
import JSON
import Permissions
import Query
import SchemaFiles
import Schemas
import Settings
import Testing

@testable import ServerConfig

@Suite("docs/flexible-sync.md")
struct FlexibleSyncPageTests {
    private let page: FlexibleSyncPage

    init() throws {
        self.page = try FlexibleSyncPage()
    }

    @Test("The settings at its beginning are valid")
    func settings() throws {
        let text = try #require(page.codeBlocks.first { $0.contains("mode: flexible") })
        let (configuration, diagnostics) = page.read(text)
        #expect(diagnostics == [])
        #expect(configuration?.roles.standard.count == 1)
    }

    @Test("Every example gives the rights that its table says")
    func examples() throws {
        let examples = try page.examples()
        #expect(examples.count == 6)
        for example in examples {
            #expect(example.rows.count > 3, "\(example.title)")
            for row in example.rows {
                let rights = try example.rights(of: row, page)
                #expect(rights == row.expected, "\(example.title): \(row)")
            }
        }
    }

    @Test("Every filter that it calls refused is refused with its message")
    func refused() throws {
        let rows = try page.table(after: "## What is refused, and why")
        #expect(rows.count == 10)
        for row in rows {
            let filter = row[0].filter { $0 != "`" }
            let declaration = RoleDeclaration(name: "x", read: .matching(filter))
            let problems = try page.roles(RoleDeclarations(classes: ["Task": [declaration]]))
                .problems
            #expect(problems.count == 1, "\(filter)")
            #expect(
                problems.first?.mistake.cause.message.contains(row[1]) == true,
                "\(filter): \(problems)"
            )
        }
    }

    @Test("The reasons for rejected writes are those of the code")
    func reasons() throws {
        let reference = ObjectReference(className: "Task", key: .string("KEY"))
        let rejections: [WriteRejection] = [
            .outsideView, .deniedByWriteFilter(role: "member"), .notAllowed,
        ]
        for rejection in rejections {
            let reason = rejection.reason(for: reference).replacing("\"KEY\"", with: "KEY")
            #expect(page.text.contains("* `\(reason)`:"), "\(reason)")
        }
    }
}

/// The page, cut into what its tests need.
struct FlexibleSyncPage {
    let text: String
    let codeBlocks: [String]
    private let sections: [(title: String, text: String)]

    init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(
            contentsOf: root.appending(path: "docs/flexible-sync.md"),
            encoding: .utf8
        )
        self.text = text
        self.codeBlocks = Self.codeBlocks(of: text)
        let examples = text.split(separator: "\n## ").first { $0.hasPrefix("Examples") } ?? ""
        self.sections = examples.split(separator: "\n### ").dropFirst().map { section in
            (section.split(separator: "\n").first.map(String.init) ?? "", String(section))
        }
    }

    private static func codeBlocks(of text: String) -> [String] {
        text.components(separatedBy: "```yaml\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
    }

    struct Missing: Error {
        let what: String
    }

    // MARK: What all examples share

    func schema() throws -> RealmSchema {
        guard let text = codeBlocks.first(where: { $0.hasPrefix("classes:") }),
            let schema = SchemaFile.parse(Array(text.utf8), file: "page").declaration?.schema
        else { throw Missing(what: "the schema") }
        return schema
    }

    func users() throws -> [String: UserValues] {
        var users: [String: UserValues] = [:]
        for row in try table(after: "All with this schema and these users.") {
            let (id, data) = (row[0].code, row[1].code)
            let value = try JSONDecoder().decode(JSONValue.self, from: Data(data.utf8))
            guard case .object(let members) = value else { throw Missing(what: "data of \(id)") }
            users[id] = UserValues(id: id, type: "normal", data: members)
        }
        return users
    }

    /// The fields of the settings at the beginning.
    func roles(_ declarations: RoleDeclarations) throws -> AppRoles {
        guard let text = codeBlocks.first, let configuration = read(text).0 else {
            throw Missing(what: "the settings")
        }
        let schema = try schema()
        return AppRoles(declarations, schema, configuration.queryableFields.rules(schema))
    }

    func read(_ text: String) -> (FlexibleSyncConfiguration?, [String]) {
        let diagnostics = DiagnosticCollector()
        guard let node = diagnostics.parse(Array(text.utf8), file: "page") else { return (nil, []) }
        let reader = NodeReader(node, diagnostics: diagnostics)
        let configuration = reader.mapping { keys in
            FlexibleSyncConfiguration(
                keys.section("sync") { SyncSettings(reading: $0) },
                keys.optional("rules", default: .none) { RolesReading(reading: $0) },
                nil,
                keys,
                nil,
                acceptsNewClasses: false
            )
        }
        return (configuration, diagnostics.diagnostics.map(\.description))
    }

    /// The cells of the first table behind a line.
    func table(after line: String) throws -> [[String]] {
        guard let start = text.firstRange(of: line) else { throw Missing(what: line) }
        return Self.table(of: String(text[start.upperBound...]))
    }

    static func table(of text: String) -> [[String]] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            .drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }
        return lines.dropFirst(2).map { line in
            line.dropFirst(2).dropLast(2).components(separatedBy: " | ")
        }
    }

    // MARK: Examples

    func examples() throws -> [FlexibleSyncExample] {
        try sections.compactMap { title, text in
            guard let code = Self.codeBlocks(of: text).first else { return nil }
            let (configuration, diagnostics) = read("sync: { mode: flexible }\n" + code)
            guard let configuration, diagnostics.isEmpty else {
                throw Missing(what: "\(title): \(diagnostics)")
            }
            return FlexibleSyncExample(
                title: title,
                roles: try roles(configuration.roles),
                rows: Self.table(of: text).map {
                    FlexibleSyncExample.Row(
                        user: $0[0].code,
                        subject: $0[1],
                        expected: Array($0[2...])
                    )
                }
            )
        }
    }
}

struct FlexibleSyncExample {
    let title: String
    let roles: AppRoles
    let rows: [Row]

    struct Row {
        let user: String
        /// `Task {…}` or `Task.salary`.
        let subject: String
        let expected: [String]
    }

    func rights(of row: Row, _ page: FlexibleSyncPage) throws -> [String] {
        #expect(roles.problems == [])
        let (schema, users) = (try page.schema(), try page.users())
        guard let user = users[row.user] else { throw FlexibleSyncPage.Missing(what: row.user) }
        let rights = roles.rights(of: user)
        if let dot = row.subject.firstIndex(of: "."), !row.subject.contains("{") {
            let field = Text(String(row.subject[row.subject.index(after: dot)...]))
            guard case .role(let role) = rights[Text(String(row.subject[..<dot]))] else {
                return ["no", "no"]
            }
            return [role.fields.isReadable(field), role.fields.isWritable(field)].map(\.word)
        }
        let parts = row.subject.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let owner = schema[Text(String(parts[0]))] else {
            throw FlexibleSyncPage.Missing(what: row.subject)
        }
        let members = try JSONForm(schema: schema)
            .decodeMembers(Array(String(parts[1]).code.utf8), of: owner)
        var document = Document(defaultsOf: owner)
        for (position, value) in members.values { document.values[position] = value }
        let object = DocumentObject(key: .string("1"), document, of: owner)
        return self.rights(to: object, of: owner.name, rights[owner.name])
    }

    /// With a subscription of all objects.
    private func rights(
        to object: DocumentObject,
        of className: Text,
        _ rights: ClassRights
    ) -> [String] {
        let view = ClassView(subscription: CheckedQuery(true, of: className), rights: rights)
        let rules = WriteRules(view: view, rights: rights)
        func isAllowed(_ old: DocumentObject?, _ new: DocumentObject?) -> Bool {
            let reference = ObjectReference(className: className, key: object.key)
            return rules.rejection(
                of: ObjectWrite(reference, old: old, new: new, changedFields: [])
            ) == nil
        }
        return [
            view?.contains(object) == true, isAllowed(nil, object), isAllowed(object, object),
            isAllowed(object, nil),
        ].map(\.word)
    }
}

extension String {
    /// Without the marks of code.
    fileprivate var code: String { filter { $0 != "`" } }

    fileprivate func components(separatedBy separator: String) -> [String] {
        split(separator: separator, omittingEmptySubsequences: false).map(String.init)
    }
}

extension Bool {
    fileprivate var word: String { self ? "yes" : "no" }
}
