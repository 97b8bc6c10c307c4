import Changesets
import Documents
import Permissions
import Query
import Testing

@Suite("Views and writes")
struct ViewAndWriteTests {
    private func rights(_ declaration: RoleDeclaration) -> ClassRights {
        Sample.roles([declaration]).rights(of: Sample.user)[Sample.order]
    }

    private func subscription(_ text: String) throws(QueryError) -> CheckedQuery {
        try Sample.rules.check(Array(text.utf8), of: Sample.order)
    }

    /// Reads store 7, writes its own orders of store 7, deletes none.
    private var clerk: RoleDeclaration {
        RoleDeclaration(
            name: "clerk",
            read: .matching("store == $user.data.store"),
            write: .matching("owner == 'me' AND store == $user.data.store"),
            insert: .matching("open == true"),
            delete: .nothing,
            fields: ["secret": FieldPermission(read: true)],
            additionalFields: .all
        )
    }

    @Test("A view is the subscription AND the right to read")
    func view() throws {
        let view = try #require(
            ClassView(subscription: subscription("level > 1"), rights: rights(clerk))
        )
        let fields: [(Text, Int64, Bool)] = [("7", 2, true), ("7", 1, false), ("8", 2, false)]
        for (store, level, isIn) in fields {
            let order = Sample.object(
                1,
                ["store": .scalar(.string(store)), "level": .scalar(.int(level))]
            )
            #expect(view.contains(order) == isIn, "\(store) \(level)")
        }
    }

    @Test("Without a subscription, a role or a right to read there is no view")
    func noView() throws {
        #expect(ClassView(subscription: nil, rights: rights(clerk)) == nil)
        #expect(ClassView(subscription: try subscription("TRUEPREDICATE"), rights: .noRole) == nil)
        let nothing = RoleDeclaration(name: "x")
        #expect(
            ClassView(subscription: try subscription("level > 1"), rights: rights(nothing)) == nil
        )
        #expect(
            ClassView(subscription: try subscription("FALSEPREDICATE"), rights: rights(clerk))
                == nil
        )
    }

    // MARK: Writes

    private func order(_ owner: Text, _ store: Text, open: Bool = true) -> DocumentObject {
        Sample.object(
            1,
            [
                "owner": .scalar(.string(owner)), "store": .scalar(.string(store)),
                "open": .scalar(.bool(open)), "level": .scalar(.int(5)),
            ]
        )
    }

    private func rejection(
        _ old: DocumentObject?,
        _ new: DocumentObject?,
        _ fields: Set<Text> = [],
        of declaration: RoleDeclaration? = nil
    ) throws -> WriteRejection? {
        let rights = rights(declaration ?? clerk)
        let view = ClassView(subscription: try subscription("level > 1"), rights: rights)
        let reference = ObjectReference(className: Sample.order, key: .int(1))
        return WriteRules(view: view, rights: rights)
            .rejection(of: ObjectWrite(reference, old: old, new: new, changedFields: fields))
    }

    @Test("An object must be in the view before and after")
    func views() throws {
        #expect(try rejection(order("me", "7"), order("me", "7"), ["open"]) == nil)
        #expect(try rejection(order("me", "8"), order("me", "7"), ["store"]) == .outsideView)
        #expect(try rejection(order("me", "7"), order("me", "8"), ["store"]) == .outsideView)
        #expect(try rejection(nil, order("me", "8")) == .outsideView)
        #expect(try rejection(order("me", "8"), nil) == .outsideView)
        #expect(try rejection(nil, nil) == nil)
    }

    @Test("An object must match the write filter before and after")
    func filters() throws {
        let denied = WriteRejection.deniedByWriteFilter(role: "clerk")
        #expect(try rejection(order("you", "7"), order("me", "7"), ["owner"]) == denied)
        #expect(try rejection(order("me", "7"), order("you", "7"), ["owner"]) == denied)
        #expect(try rejection(nil, order("you", "7")) == denied)
        #expect(try rejection(order("you", "7"), nil) == denied)
    }

    @Test("Inserting, deleting and each changed field need their rights")
    func otherRights() throws {
        #expect(try rejection(nil, order("me", "7")) == nil)
        #expect(try rejection(nil, order("me", "7", open: false)) == .notAllowed)
        #expect(try rejection(order("me", "7"), nil) == .notAllowed)
        #expect(try rejection(order("me", "7"), order("me", "7"), ["secret"]) == .notAllowed)
        #expect(try rejection(nil, order("me", "7"), ["open", "secret"]) == .notAllowed)
        var deleter = clerk
        deleter.delete = .all
        #expect(try rejection(order("me", "7"), nil, ["secret"], of: deleter) == nil)
    }

    @Test("Without a role nothing is allowed")
    func noRole() throws {
        let stranger = RoleDeclaration(name: "x", applyWhen: "user.id == 'x'", write: .all)
        #expect(try rejection(nil, order("me", "7"), of: stranger) == .outsideView)
        let rules = WriteRules(view: nil, rights: .noRole)
        let write = ObjectWrite(
            ObjectReference(className: "Reading", key: .int(1)),
            old: nil,
            new: order("me", "7"),
            changedFields: []
        )
        #expect(rules.rejection(ofAsymmetric: write) == .notAllowed)
    }

    @Test("Objects of an asymmetric class have no view, and are only inserted")
    func asymmetric() throws {
        let rules = WriteRules(view: nil, rights: rights(clerk))
        func rejection(_ old: DocumentObject?, _ new: DocumentObject?) -> WriteRejection? {
            let reference = ObjectReference(className: Sample.order, key: .int(1))
            let write = ObjectWrite(reference, old: old, new: new, changedFields: ["level"])
            return rules.rejection(ofAsymmetric: write)
        }
        #expect(rejection(nil, order("me", "7")) == nil)
        #expect(rejection(nil, order("you", "7")) == .deniedByWriteFilter(role: "clerk"))
        #expect(rejection(nil, order("me", "7", open: false)) == .notAllowed)
        #expect(rejection(order("me", "7"), order("me", "7")) == .notAllowed)
        #expect(rejection(order("me", "7"), nil) == .notAllowed)
    }

    @Test(
        "Reasons have the texts that apps look for",
        arguments: [
            (
                ObjectKey.int(7), WriteRejection.outsideView,
                #"write to 7 in table "Order" not allowed; object is outside of the current query view"#
            ),
            (.string("a b"), .notAllowed, #"write to "a b" in table "Order" not allowed"#),
            (
                .objectID(.zero), .deniedByWriteFilter(role: "clerk"),
                #"write to ObjectID("000000000000000000000000") in table "Order" was denied by write filter in role "clerk""#
            ),
            (
                .uuid(.zero), .notAllowed,
                #"write to UUID("00000000-0000-0000-0000-000000000000") in table "Order" not allowed"#
            ),
            (.null, .notAllowed, #"write to null in table "Order" not allowed"#),
        ]
    )
    func reasons(_ key: ObjectKey, _ rejection: WriteRejection, _ text: String) {
        let reference = ObjectReference(className: Sample.order, key: key)
        #expect(rejection.reason(for: reference) == text)
    }
}
