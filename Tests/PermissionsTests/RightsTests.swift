import Changesets
import JSON
import Permissions
import Query
import Schemas
import Testing

@Suite("Rights of a user")
struct RightsTests {
    private func rights(
        _ declarations: [RoleDeclaration],
        _ user: UserValues = Sample.user
    ) -> ClassRights {
        Sample.roles(declarations).rights(of: user)[Sample.order]
    }

    private func role(
        _ declaration: RoleDeclaration,
        _ user: UserValues = Sample.user
    ) throws -> RoleRights {
        guard case .role(let role) = rights([declaration], user) else { throw MissingRole() }
        return role
    }

    private struct MissingRole: Error {}

    // MARK: Which role

    @Test("The first role that applies counts, and no later one")
    func firstRole() throws {
        let roles = [
            RoleDeclaration(name: "strangers", applyWhen: "user.id == 'x'", write: .all),
            RoleDeclaration(name: "admin", applyWhen: "user.data.admin == true", read: .all),
            RoleDeclaration(name: "all", read: .all, write: .all),
        ]
        guard case .role(let role) = rights(roles) else { throw MissingRole() }
        #expect(role.role == "admin")
        #expect(role.read.constantResult == true)
        #expect(role.write.constantResult == false)
        guard case .role(let other) = rights(roles, UserValues(id: "y", type: "normal")) else {
            throw MissingRole()
        }
        #expect(other.role == "all")
    }

    @Test("Without a role that applies there is no access")
    func noRole() {
        let role = RoleDeclaration(name: "x", applyWhen: "user.type == 'server'", read: .all)
        #expect(rights([role]) == .noRole)
        #expect(rights([]) == .noRole)
    }

    @Test("A class with roles of its own never uses the standard ones")
    func standardRoles() {
        let declarations = RoleDeclarations(
            classes: [
                Sample.order: [
                    RoleDeclaration(name: "x", applyWhen: "user.id == 'x'", read: .all)
                ]
            ],
            standard: [RoleDeclaration(name: "all", read: .all)]
        )
        let rights = AppRoles(declarations, Sample.schema, Sample.rules).rights(of: Sample.user)
        #expect(rights[Sample.order] == .noRole)
        #expect(rights["Note"] != .noRole)
        #expect(rights["Unknown"] == .noRole)
    }

    @Test("apply_when compares numbers and ids of custom data")
    func customData() {
        for (rule, applies) in [
            ("user.custom_data.rank == 4", true),
            ("user.custom_data.team == user.id", true),
            ("user.custom_data.rank == 5", false),
            ("user.custom_data.other == 4", false),
            ("'8' IN user.data.stores", true),
            ("'9' IN user.data.stores", false),
            ("NOT '9' IN user.data.stores", true),
            ("'8' IN user.data.store", false),
        ] {
            let role = RoleDeclaration(name: "x", applyWhen: rule, read: .all)
            #expect((rights([role]) != .noRole) == applies, "\(rule)")
        }
    }

    // MARK: Its rights

    @Test("The right to write includes that to read")
    func writeImpliesRead() throws {
        let role = try role(
            RoleDeclaration(
                name: "x",
                read: .matching("open == true"),
                write: .matching("owner == $user.id")
            )
        )
        #expect(
            Sample.canonical(role.read)
                == #"(open == true or owner == "6569e1a0c0ffee0123456789")"#
        )
        #expect(Sample.canonical(role.write) == #"owner == "6569e1a0c0ffee0123456789""#)
        #expect(role.insert == role.write)
        #expect(role.delete == role.write)
    }

    @Test("A document filter and its permission must both allow")
    func documentFilters() throws {
        let both = try role(
            RoleDeclaration(
                name: "x",
                readFilter: .matching("store == '7'"),
                writeFilter: .matching("store == '8'"),
                read: .all,
                write: .nothing
            )
        )
        #expect(Sample.canonical(both.read) == #"store == "7""#)
        #expect(both.write.constantResult == false)
        let filtersOnly = try role(
            RoleDeclaration(name: "x", readFilter: .matching("store == '7'"), writeFilter: .nothing)
        )
        #expect(Sample.canonical(filtersOnly.read) == #"store == "7""#)
        #expect(filtersOnly.write.constantResult == false)
        let nothing = try role(RoleDeclaration(name: "x"))
        #expect(nothing.read.constantResult == false)
        #expect(nothing.write.constantResult == false)
    }

    @Test("Rights to insert and delete restrict the one to write")
    func insertAndDelete() throws {
        let role = try role(
            RoleDeclaration(
                name: "x",
                write: .matching("store == '7'"),
                insert: .matching("open == true"),
                delete: .nothing
            )
        )
        #expect(Sample.canonical(role.insert) == #"store == "7" and open == true"#)
        #expect(role.delete.constantResult == false)
    }

    @Test("With fields, those not named have the rights of additional_fields, else none")
    func fields() throws {
        var declaration = RoleDeclaration(
            name: "x",
            write: .all,
            fields: ["store": FieldPermission(write: true), "open": FieldPermission(read: true)]
        )
        let listed = try role(declaration).fields
        #expect(listed.isReadable("store") && listed.isWritable("store"))
        #expect(listed.isReadable("open") && !listed.isWritable("open"))
        #expect(!listed.isReadable("secret") && !listed.isWritable("secret"))
        #expect(listed.visible != .all)
        declaration.additionalFields = FieldPermission(read: true)
        let others = try role(declaration).fields
        #expect(others.isReadable("secret") && !others.isWritable("secret"))
        #expect(others.visible == .all)
        #expect(try role(RoleDeclaration(name: "x", write: .all)).fields == .all)
    }

    // MARK: Mistakes

    @Test("A role with a mistake in a filter allows its users nothing")
    func mistakeInFilter() throws {
        let roles = Sample.roles([
            RoleDeclaration(
                name: "broken",
                applyWhen: "user.id == 'x'",
                read: .all,
                write: .matching("missing == 1")
            ),
            RoleDeclaration(name: "all", read: .all),
        ])
        #expect(roles.problems.map(\.mistake.key) == [.write])
        #expect(roles.problems.first?.mistake.cause.code == .unknownName)
        guard
            case .role(let broken) = roles.rights(of: UserValues(id: "x", type: "normal"))["Order"],
            case .role(let others) = roles.rights(of: Sample.user)["Order"]
        else { throw MissingRole() }
        #expect(broken.role == "broken")
        #expect(broken.read.constantResult == false)
        #expect(broken.write.constantResult == false)
        #expect(broken.fields == .nothing)
        #expect(others.role == "all")
    }

    @Test("With a mistake in apply_when all users get the role, and it allows nothing")
    func mistakeInApplyWhen() throws {
        let roles = Sample.roles([
            RoleDeclaration(name: "broken", applyWhen: "user.name == 'x'", read: .all),
            RoleDeclaration(name: "all", read: .all),
        ])
        #expect(roles.problems.map(\.mistake.key) == [.applyWhen])
        guard case .role(let role) = roles.rights(of: Sample.user)["Order"] else {
            throw MissingRole()
        }
        #expect(role.role == "broken")
        #expect(role.read.constantResult == false)
    }

    @Test("Fields that the class does not have, and the primary key, are mistakes")
    func mistakesInFields() {
        let roles = Sample.roles([
            RoleDeclaration(
                name: "x",
                read: .all,
                fields: ["_id": .all, "missing": .all, "store": .all]
            )
        ])
        #expect(roles.problems.map(\.mistake.cause.code) == [.subscription, .unknownName])
    }

    @Test("A standard role fails only for the classes that lack its field")
    func standardRoleWithoutField() throws {
        let declarations = RoleDeclarations(
            standard: [RoleDeclaration(name: "own", write: .matching("owner == $user.id"))]
        )
        let roles = AppRoles(declarations, Sample.schema, Sample.rules)
        #expect(roles.problems.map(\.className) == ["Note"])
        guard case .role(let orders) = roles.rights(of: Sample.user)["Order"],
            case .role(let notes) = roles.rights(of: Sample.user)["Note"]
        else { throw MissingRole() }
        #expect(orders.write.constantResult == nil)
        #expect(notes.read.constantResult == false)
    }

    // MARK: The signature

    @Test("The signature changes with the role, its texts, its fields and the values it uses")
    func signature() {
        func signature(
            _ declaration: RoleDeclaration,
            _ user: UserValues = Sample.user
        ) -> UserRightsSignature {
            Sample.roles([declaration]).rights(of: user).signature
        }
        let base = RoleDeclaration(name: "x", read: .matching("store == $user.data.store"))
        var changed = [base, base, base, base, base, base]
        changed[0].read = .matching("store == $user.data.level")
        changed[1].write = .all
        changed[2].insert = .nothing
        changed[3].fields = ["store": .all]
        changed[4].additionalFields = .all
        changed[5].delete = .nothing
        let signatures = changed.map { signature($0) }
        #expect(Set(signatures + [signature(base)]).count == 6)
        // Named fields and others with all rights are the same as no fields: none of the others changes.
        #expect(signatures[4] == signature(base))

        var other = base
        other.name = "y"
        other.applyWhen = "user.id != 'x'"
        #expect(signature(other) == signature(base))

        let sameStore = UserValues(id: "z", type: "normal", data: ["store": .string("7")])
        let otherStore = UserValues(id: "z", type: "normal", data: ["store": .string("8")])
        let noStore = UserValues(id: "z", type: "normal")
        #expect(signature(base, sameStore) == signature(base))
        #expect(signature(base, otherStore) != signature(base))
        #expect(signature(base, noStore) != signature(base))
    }

    @Test("A class that was added counts once it may be read and is subscribed to")
    func signatureOfNewClass() {
        let role = RoleDeclaration(name: "x", read: .all)
        let declarations = RoleDeclarations(classes: [Sample.order: [role], "Reading": [role]])
        func signature(_ classes: ClosedRange<Int>) -> UserRightsSignature {
            let schema = RealmSchema(Array(Sample.schema.classes[classes]))
            return AppRoles(declarations, schema, Sample.rules).rights(of: Sample.user).signature
        }
        let (one, two, three) = (signature(0...0), signature(0...1), signature(0...2))
        let all: [Text] = ["Note", "Order", "Reading"]
        #expect(one.knows("Order"))
        #expect(two.knows("Note"))
        #expect(!two.knows("Reading"))
        #expect(one.change(to: one, subscribed: all) == .none)
        #expect(one.change(to: two, subscribed: all) == .none)
        #expect(one.change(to: three, subscribed: ["Order", "Note"]) == .none)
        #expect(one.change(to: three, subscribed: all) == .newClass)
        #expect(two.change(to: three, subscribed: all) == .newClass)
    }

    @Test("The rights to a class count from the beginning, also if there were none")
    func changedRights() {
        let role = RoleDeclaration(name: "x", read: .all)
        func signature(_ classes: [Text: [RoleDeclaration]]) -> UserRightsSignature {
            AppRoles(RoleDeclarations(classes: classes), Sample.schema, Sample.rules)
                .rights(of: Sample.user).signature
        }
        let few = signature(["Order": [role]])
        let more = signature(["Order": [role], "Note": [role]])
        let others = signature(["Order": [RoleDeclaration(name: "x", read: .all, write: .all)]])
        #expect(few.change(to: more, subscribed: []) == .rights)
        #expect(more.change(to: few, subscribed: []) == .rights)
        #expect(few.change(to: others, subscribed: []) == .rights)
        #expect(few.change(to: few, subscribed: ["Note", "Other"]) == .none)
    }
}
