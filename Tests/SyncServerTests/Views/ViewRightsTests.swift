import Changesets
import Documents
import JSON
import Permissions
import Query
import Schemas
import Scopes
import SyncProtocol
import Testing
import Versions

@testable import ServerStore
@testable import SyncServer

@Suite("Rights to fields, and rights by custom data")
struct ViewRightsTests {
    private static let bob = UserID("bob")

    private static func person(_ id: Int64) -> ObjectReference { ViewScenarioTests.person(id) }

    /// Ann reads and writes everything, others do not see names.
    private static let hidingNames = RoleDeclarations(standard: [
        RoleDeclaration(name: "ann", applyWhen: "user.id == 'ann'", read: .all, write: .all),
        RoleDeclaration(
            name: "others",
            read: .all,
            write: .all,
            fields: ["name": .nothing],
            additionalFields: .all
        ),
    ])

    /// A client of Ann that sees all persons, and has made one, and one of Bob.
    private func clients(in world: ViewWorld) async throws -> (ann: ViewClient, bob: ViewClient) {
        var ann = try await world.client()
        try await ann.connect(to: world)
        try await ann.subscribe(ViewScenarioTests.all, as: 1, at: world)
        try ann.write {
            ViewScenarioTests.create(1, age: 20, into: &$0)
            $0.update(Self.person(1), "name", to: .scalar(.string("secret")))
        }
        try await ann.upload(to: world)
        var bob = try await world.client(of: Self.bob)
        try await bob.connect(to: world)
        try await bob.subscribe(ViewScenarioTests.all, as: 1, at: world)
        return (ann, bob)
    }

    private func name(_ client: ViewClient) -> Value? {
        client.value("name", of: Self.person(1))
    }

    @Test("A hidden field is in no bootstrap and no download; the others are")
    func hidden() async throws {
        let world = try await ViewWorld(roles: Self.hidingNames)
        var (ann, bob) = try await clients(in: world)
        #expect(name(bob) == .scalar(.string("")))
        #expect(bob.value("age", of: Self.person(1)) == .scalar(.int(20)))
        try ann.write {
            $0.update(Self.person(1), "name", to: .scalar(.string("other")))
            ViewScenarioTests.setAge(1, 21, into: &$0)
        }
        try await ann.upload(to: world)
        try await bob.downloadAll(from: world)
        #expect(name(bob) == .scalar(.string("")))
        #expect(bob.value("age", of: Self.person(1)) == .scalar(.int(21)))
        // Nor as the state of an object that enters the view.
        try await bob.subscribe(ViewScenarioTests.adults, as: 2, at: world)
        for age in [1, 40] {
            try ann.write { ViewScenarioTests.setAge(1, Int64(age), into: &$0) }
            try await ann.upload(to: world)
            try await bob.downloadAll(from: world)
        }
        #expect(bob.value("age", of: Self.person(1)) == .scalar(.int(40)))
        #expect(name(bob) == .scalar(.string("")))
    }

    @Test("A hidden field cannot be written, and the undo does not tell it")
    func undo() async throws {
        let world = try await ViewWorld(roles: Self.hidingNames)
        var (_, bob) = try await clients(in: world)
        try bob.write { $0.update(Self.person(1), "name", to: .scalar(.string("mine"))) }
        try await bob.upload(to: world)
        try await bob.downloadAll(from: world)
        #expect(bob.rejected.map(\.className) == ["Person"])
        #expect(name(bob) == .scalar(.string("")))
        #expect(bob.value("age", of: Self.person(1)) == .scalar(.int(20)))
    }

    @Test("A subscription by a hidden field brings nothing: it would tell the value")
    func probing() async throws {
        let world = try await ViewWorld(roles: Self.hidingNames)
        var (_, bob) = try await clients(in: world)
        try await bob.subscribe(#"{"Person":"(name == 'secret')"}"#, as: 2, at: world)
        #expect(bob.objects.isEmpty)
    }

    @Test("When a field becomes visible, or hidden, clients get their objects again")
    func changes() async throws {
        let world = try await ViewWorld(roles: Self.hidingNames)
        var (_, bob) = try await clients(in: world)
        world.setRoles(ViewWorld.allUsers)
        try await bob.connect(to: world)
        #expect(name(bob) == .scalar(.string("secret")))
        world.setRoles(Self.hidingNames)
        try await bob.connect(to: world)
        #expect(name(bob) == .scalar(.string("")))
    }

    // MARK: Custom data

    /// Each user may read persons of the age in their own object: the person with their id as owner.
    private func customWorld() async throws -> ViewWorld {
        let world = try await ViewWorld(
            roles: RoleDeclarations(standard: [
                RoleDeclaration(name: "ann", applyWhen: "user.id == 'ann'", write: .all),
                RoleDeclaration(name: "others", read: .matching("age == $user.custom_data.age")),
            ])
        )
        world.setCustomUserData(
            CustomUserDataSource(className: "Person", userIDField: "owner") {
                user,
                app,
                snapshot throws(StoreError) in
                guard let file = try snapshot.file(of: app, .flexible)?.id,
                    let owner = try snapshot.schema(of: file)["Person"],
                    let (_, json) = try snapshot.document(
                        of: "Person",
                        whose: "owner",
                        is: Text(user.rawValue),
                        in: file
                    ),
                    let document = try? JSONForm(schema: ViewWorld.schema)
                        .decodeDocument(json, of: owner),
                    case .scalar(.int(let age))? = document.values.first
                else { return nil }
                return .object(["age": .integer(age)])
            }
        )
        return world
    }

    @Test("Roles read the user's own object; without one they deny")
    func customData() async throws {
        let world = try await customWorld()
        var (ann, bob) = try await clients(in: world)
        #expect(bob.objects.isEmpty)
        try ann.write {
            ViewScenarioTests.create(2, age: 20, into: &$0)
            $0.update(Self.person(2), "owner", to: .scalar(.string("bob")))
        }
        try await ann.upload(to: world)
        try await bob.connect(to: world)
        #expect(bob.objects["Person"]?.count == 2)
    }

    @Test("A change of a user's own object is growth after which that user's rights are compared")
    func review() async throws {
        let world = try await customWorld()
        var (ann, _) = try await clients(in: world)
        let settings = world.settings
        var start = try await world.serverFile().currentVersion
        func users() async throws -> FileGrowth.Users? {
            let growth = try await world.engine.views.growth(of: world.file, after: start) { _ in
                settings
            }
            start = try await world.serverFile().currentVersion
            return growth?.reviewed
        }
        #expect(try await users() == .some([]))
        try ann.write {
            ViewScenarioTests.create(2, age: 20, into: &$0)
            $0.update(Self.person(2), "owner", to: .scalar(.string("bob")))
        }
        try await ann.upload(to: world)
        #expect(try await users()?.contains(Self.bob) == true)
        try ann.write { $0.update(Self.person(2), "owner", to: .scalar(.string("cleo"))) }
        try await ann.upload(to: world)
        #expect(try await users() == .some([Self.bob, UserID("cleo")]))
    }

    // MARK: Queryable fields

    @Test("Changes while a field was not queryable are not missed when it is again")
    func restoredField() async throws {
        let world = try await ViewWorld()
        var (ann, _) = try await clients(in: world)
        try ann.write { ViewScenarioTests.create(2, age: 10, into: &$0) }
        try await ann.upload(to: world)
        try await ann.downloadAll(from: world)
        var away = try await world.client(of: Self.bob)
        try await away.connect(to: world)
        try await away.subscribe(ViewScenarioTests.adults, as: 1, at: world)
        #expect(away.objects["Person"]?.keys.map(\.self) == [.int(1)])
        // Meanwhile one object leaves its view, and one enters it.
        world.setQueryable(["name"])
        try ann.write {
            ViewScenarioTests.setAge(1, 5, into: &$0)
            ViewScenarioTests.setAge(2, 50, into: &$0)
        }
        try await ann.upload(to: world)
        world.setQueryable(nil)
        try away.write { ViewScenarioTests.setAge(1, 30, into: &$0) }
        try await away.connect(to: world)
        try await away.upload(to: world)
        try await away.downloadAll(from: world)
        #expect(away.rejected.count == 1)
        #expect(away.objects["Person"]?.keys.map(\.self) == [.int(2)])
    }

    @Test("A client whose subscriptions need a field that is not queryable any more starts over")
    func removedField() async throws {
        let world = try await ViewWorld()
        var (_, bob) = try await clients(in: world)
        try await bob.subscribe(ViewScenarioTests.adults, as: 2, at: world)
        world.setQueryable(["name"])
        await #expect(throws: SubscriptionsRevoked.self) { try await bob.connect(to: world) }
        let user = ConnectedUser(
            id: Self.bob,
            app: ViewWorld.app,
            mustLeaveAt: .max
        )
        // Also during its session.
        let body = try SubscriptionSetBody(decoding: Array(ViewScenarioTests.adults.utf8))
        await #expect(throws: SubscriptionSetError.self) {
            _ = try await world.engine.views.rights(
                of: user,
                with: bob.ident.ident,
                in: world.file,
                subscribing: body,
                world.context
            )
        }
        let failure = SessionFailure(SubscriptionsRevoked(reason: "r"))
        #expect(failure.fault.code == 217)
    }
}

extension FileGrowth.Users {
    fileprivate func contains(_ user: UserID) -> Bool {
        switch self {
        case .all: true
        case .some(let users): users.contains(user)
        }
    }
}
