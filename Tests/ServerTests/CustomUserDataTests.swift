import Changesets
import Documents
import FoundationEssentials
import JSON
import SchemaFiles
import Schemas
import Scopes
import Settings
import SyncProtocol
import Testing
import Versions

@testable import ServerAccounts
@testable import ServerConfig
@testable import ServerStore

/// App services, 10.5.
@Suite("Custom user data")
struct CustomUserDataTests {
    private static func apps(_ field: String) -> [ServedAppConfiguration] {
        var app = TestApps.configurations[0]
        app.customUserData = CustomUserDataConfiguration(
            className: "Person",
            partition: .string("people"),
            userIDField: field
        )
        return [app, TestApps.configurations[1]]
    }

    private func claims(_ token: String?) -> [String: JSONValue] {
        let text = token.flatMap { TokenText.payload(of: $0) } ?? ""
        return (try? JSONDecoder().decode([String: JSONValue].self, from: Data(text.utf8))) ?? [:]
    }

    /// The custom user data in the access token after a refresh.
    private func userData(
        _ world: SyncWorld,
        _ refreshToken: String?
    ) async throws -> JSONValue? {
        let reply = await world.apps.call("POST", "/auth/session", token: refreshToken)
        #expect(reply.status == 201)
        let claims = claims(reply.fields["access_token"])
        #expect(claims["typ"] == .string("access"))
        return claims["user_data"]
    }

    /// A class, and an object of it about a user.
    private func people(
        _ key: ObjectKey,
        about user: String,
        team: String = "blue"
    ) -> [UInt8] {
        var writer = ChangesetWriter()
        let keyType: PrimaryKeyType = if case .objectID = key { .objectID } else { .string }
        writer.addTopLevelClass("Person", primaryKey: "_id", type: keyType, isNullable: false)
        for (name, type) in [("user", TypeCode.string), ("team", .string), ("age", .int)] {
            writer.addColumn(
                Text(name),
                to: "Person",
                type: type,
                isNullable: true,
                collection: .single
            )
        }
        let object = ObjectReference(className: "Person", key: key)
        writer.createObject(object)
        writer.update(object, "user", to: .scalar(.string(Text(user))))
        writer.update(object, "team", to: .scalar(.string(Text(team))))
        writer.update(object, "age", to: .scalar(.int(7)))
        return writer.bytes
    }

    private func write(
        _ changeset: [UInt8],
        to world: SyncWorld,
        in partition: String = "\"people\""
    ) async throws {
        try await world.connect { client in
            try await client.start(1, partition)
            try await client.upload([upload(2, on: 0, changeset)])
            _ = try await client.expectDownload()
        }
    }

    private enum Key: CaseIterable {
        case text, objectID, other
    }

    @Test(
        "S10 A user's object is in its access tokens from the next refresh on",
        arguments: [Key.text, .objectID, .other]
    )
    private func refreshed(by kind: Key) async throws {
        let field = kind == .other ? "user" : "_id"
        try await SyncWorld.with(.memory, apps: Self.apps(field)) { world in
            let login = await world.apps.logInAnonymously().fields
            let user = try #require(login["user_id"])
            let refresh = login["refresh_token"]
            // There is no such realm yet.
            #expect(claims(login["access_token"])["user_data"] == nil)
            #expect(try await userData(world, refresh) == nil)

            let key: ObjectKey
            let keyValue: JSONValue
            switch kind {
            case .text: (key, keyValue) = (.string(Text(user)), .string(user))
            case .objectID:
                key = .objectID(try #require(ObjectID(user)))
                keyValue = .object(["$oid": .string(user)])
            case .other: (key, keyValue) = (.string("p1"), .string("p1"))
            }
            try await write(people(key, about: user), to: world)
            #expect(
                try await userData(world, refresh)
                    == .object([
                        "_id": keyValue, "user": .string(user), "team": .string("blue"),
                        "age": .object(["$numberLong": .string("7")]),
                    ])
            )
            // Not another user's, not in the refresh token, and not in another app.
            let other = await world.apps.logInAnonymously().fields
            #expect(claims(other["access_token"])["user_data"] == nil)
            #expect(claims(refresh)["user_data"] == nil)
            let office = await world.apps.logInAnonymously(to: TestApps.office).fields
            #expect(try await userData(world, office["refresh_token"]) == nil)
            // A token that says more opens what every token opens.
            let token = await world.apps.call("POST", "/auth/session", token: refresh)
                .fields["access_token"]
            let profile = await world.apps.call("GET", "/auth/profile", token: token)
            #expect(profile.status == 200)
        }
    }

    @Test("In any partition: the user's own realm comes first, then the oldest with such an object")
    func anyPartition() async throws {
        var app = TestApps.configurations[0]
        app.customUserData = CustomUserDataConfiguration(
            className: "Person",
            place: .anyPartition,
            userIDField: "user"
        )
        try await SyncWorld.with(.memory, apps: [app, TestApps.configurations[1]]) { world in
            let login = await world.apps.logInAnonymously().fields
            let user = try #require(login["user_id"])
            func team() async throws -> JSONValue? {
                guard case .object(let data)? = try await userData(world, login["refresh_token"])
                else { return nil }
                return data["team"]
            }
            #expect(try await team() == nil)
            try await write(people(.string("1"), about: user, team: "old"), to: world)
            #expect(try await team() == .string("old"))
            for (partition, name) in [("\"later\"", "later"), ("\"\(user)\"", "own")] {
                try await write(
                    people(.string(Text(name)), about: user, team: name),
                    to: world,
                    in: partition
                )
            }
            #expect(try await team() == .string("own"))
        }
    }

    @Test("Data too large for a URL is left out", arguments: [4096, 4097])
    func tooLarge(length: Int) async throws {
        try await SyncWorld.with(.memory, apps: Self.apps("_id")) { world in
            let login = await world.apps.logInAnonymously().fields
            let user = try #require(login["user_id"])
            let team = String(repeating: "x", count: length - 81)
            try await write(people(.string(Text(user)), about: "-", team: team), to: world)
            let data = try await userData(world, login["refresh_token"])
            #expect((data == nil) == (length == 4097), "\(data?.text?.utf8.count ?? 0)")
        }
    }

    @Test("Every kind of value has its canonical form")
    func values() throws {
        let declaration = """
            classes:
              Person:
                primary_key: _id
                properties:
                  _id: int
                  isIn: bool
                  bytes: binary
                  born: timestamp
                  ratio: double
                  size: float
                  price: decimal
                  badge: uuid
                  friend: link<Person>
                  home: embedded<Place>
                  visits: list<embedded<Place>>
                  tags: set<string>
                  marks: dictionary<mixed>
              Place: { embedded: true, properties: { city: string? } }
            """
        let (parsed, diagnostics) = SchemaFile.parse(Array(declaration.utf8), file: "people.yaml")
        #expect(diagnostics.map(\.description) == [])
        let schema = try #require(parsed).schema
        let owner = try #require(schema["Person"])
        let document = try JSONForm(schema: schema).decodeDocument(
            Array(
                """
                {"isIn":true,"bytes":"AQI=","born":"1969-12-31T23:59:58.5Z","ratio":2.0,"size":0.5,
                "price":"1.10","badge":"00112233-4455-6677-8899-aabbccddeeff","friend":9,
                "home":{"city":"Bonn"},"visits":[{"city":null}],"tags":["b"],
                "marks":{"a":1,"b":{"$numberDouble":"-Infinity"},"c":[null,{"d":"e"}]}}
                """.utf8
            ),
            of: owner
        )
        let json = try ExtendedJSONWriter(schema: schema).object(document, key: .int(-3), of: owner)
            .json()
        #expect(
            String(decoding: json, as: UTF8.self) == """
                {"_id":{"$numberLong":"-3"},\
                "badge":{"$binary":{"base64":"ABEiM0RVZneImaq7zN3u/w==","subType":"04"}},\
                "born":{"$date":{"$numberLong":"-1500"}},\
                "bytes":{"$binary":{"base64":"AQI=","subType":"00"}},\
                "friend":{"$numberLong":"9"},"home":{"city":"Bonn"},"isIn":true,\
                "marks":{"a":{"$numberLong":"1"},"b":{"$numberDouble":"-Infinity"},"c":[null,{"d":"e"}]},\
                "price":{"$numberDecimal":"1.10"},"ratio":{"$numberDouble":"2.0"},\
                "size":{"$numberDouble":"0.5"},"tags":["b"],"visits":[{"city":null}]}
                """
        )
    }
}
