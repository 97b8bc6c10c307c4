import Changesets
import Config
import Scopes
import Settings
import Testing

@Suite("Partitions")
struct PartitionTests {
    @Test(
        "Canonical Extended JSON, as BIND carries it",
        arguments: [
            ("my-partition", .string, #""my-partition""#),
            ("", .string, #""""#),
            (#"a"b\c/ä😀"#, .string, #""a\"b\\c/ä😀""#),
            (
                "\u{8}\u{c}\n\r\t\u{0}\u{1f}\u{7f}", .string,
                #""\b\f\n\r\t\u0000\u001f"# + "\u{7f}\""
            ),
            ("5", .int, #"{"$numberLong":"5"}"#),
            ("-9223372036854775808", .int, #"{"$numberLong":"-9223372036854775808"}"#),
            (
                "0123456789ABCDEF01234567", .objectID, #"{"$oid":"0123456789abcdef01234567"}"#
            ),
            (
                "3b241101-e2bb-4255-8caf-4136c566a962", .uuid,
                #"{"$binary":{"base64":"OyQRAeK7QlWMr0E2xWapYg==","subType":"04"}}"#
            ),
        ] as [(String, Partition.Kind, String)]
    )
    func extendedJSON(text: String, kind: Partition.Kind, json: String) {
        #expect(Partition(text, kind: kind)?.canonicalText == json)
    }

    @Test("The null partition")
    func null() {
        #expect(Partition.null.canonicalText == "null")
    }

    private func partition(_ text: String) throws -> PartitionSetting {
        let configuration = load(
            """
            apps: { a: { app_id: a, base_url: https://a.example.com } }
            users: { u: { app: a, provider: anonymous } }
            realms: { r: { user: u, partition: \(text) } }
            """
        ).configuration
        guard case .partition(let setting) = configuration?.realms.first?.scope else {
            throw NoPartition()
        }
        return setting
    }

    @Test("The user's id is filled in once it is known")
    func userID() throws {
        let id = "65f0000000000000000000aa"
        #expect(
            try partition("{ object_id: '${user.id}' }").value(userID: id)
                == ObjectID(id).map(Partition.objectID)
        )
        #expect(
            try partition("{ string: 'user=${user.id}${env.STORE}' }").value(userID: id)
                == .string(Text("user=\(id)42"))
        )
        let number = try partition("{ int: '${user.id}' }")
        let error = #expect(throws: PartitionError.self) { try number.value(userID: id) }
        #expect(
            error?.description
                == "the partition \"\(id)\" is not a whole number that fits into 64 bits"
        )
    }

    @Test("A path with the user's id is of each user's own, and no two realms of one user share it")
    func path() throws {
        func read(_ realms: String) -> ConfigurationParser.Result {
            load(
                """
                apps: { a: { app_id: a, base_url: https://a.example.com } }
                users: { u: { app: a, provider: anonymous }, v: { app: a, provider: anonymous } }
                realms: { \(realms) }
                """
            )
        }
        let path = "path: '/srv//${user.id}/./s.sqlite'"
        let r = "r: { user: u, partition: null, \(path) }"
        let realm = try #require(read(r).configuration?.realms.first)
        #expect(realm.path == "/srv/${user.id}/s.sqlite")
        #expect(realm.located(userID: nil) == realm)
        #expect(realm.located(userID: "65f0").path == "/srv/65f0/s.sqlite")
        let others = read("\(r), s: { user: v, partition: null, \(path) }")
        #expect(others.configuration?.realms.count == 2, "\(others.diagnostics)")
        let same = read("\(r), s: { user: u, partition: null, \(path) }")
        #expect(same.configuration == nil)
        #expect(same.diagnostics.first?.description.contains("is the file of realm") == true)
    }

    @Test(
        "Text that only resembles a template is kept",
        arguments: [
            ("$5", "$5"), ("$${user.id}", "${user.id}"), ("a$", "a$"), ("{user.id}", "{user.id}"),
            ("$$${user.id}", "$${user.id}"), ("${env.STORE}${env.STORE}", "4242"),
        ]
    )
    func literals(text: String, value: String) throws {
        #expect(try partition("{ string: '\(text)' }") == .fixed(.string(Text(value))))
    }
}

private struct NoPartition: Error {}
