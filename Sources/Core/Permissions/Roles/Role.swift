import Changesets
import JSON
import Query

/// A role of one class, checked against the schema.
struct Role: Sendable {
    let name: String
    private let admission: Admission
    private let filters: Filters
    private let fields: FieldRights
    /// The texts and fields that make up the rights, without the values of the users.
    private let signature: RightsSignature
    /// The values of a user that the rights depend on, in a fixed order.
    private let names: [UserValueName]

    private enum Admission: Sendable {
        case allUsers
        case users(RuleCondition<UserValueName>)
    }

    private struct Filters: Sendable {
        let read: RoleFilter
        let write: RoleFilter
        let insert: RoleFilter
        let delete: RoleFilter

        static let none = Filters(
            read: .constant(false),
            write: .constant(false),
            insert: .constant(false),
            delete: .constant(false)
        )
    }

    /// Checks all texts of a role.
    ///
    /// With a mistake it allows nothing, and with one in `apply_when` all users get it: a later role
    /// must not open what this one was to close (moving an app, 4.3).
    init(_ declaration: RoleDeclaration, _ reader: inout RoleReader) {
        self.name = declaration.name
        self.admission =
            switch reader.applyWhen() {
            case .some(let rule): .users(rule)
            case nil: .allUsers
            }
        let read = reader.right(.read, declaration.read, .readFilter, declaration.readFilter)
        let write = reader.right(.write, declaration.write, .writeFilter, declaration.writeFilter)
        let insert = reader.right(.insert, declaration.insert)
        let delete = reader.right(.delete, declaration.delete)
        let fields = reader.fieldRights()
        guard reader.problems.isEmpty else {
            self.filters = .none
            self.fields = .nothing
            self.signature = RightsSignature()
            self.names = []
            return
        }
        self.filters = Filters(
            // Write implies read.
            read: .any([read, write]),
            write: write,
            insert: .all([write, insert]),
            delete: .all([write, delete])
        )
        self.fields = fields
        self.names = Set([read, write, insert, delete].flatMap(\.names))
            .sorted { $0.description < $1.description }
        var signature = RightsSignature()
        for filter in [read, write, insert, delete] { filter.append(to: &signature) }
        fields.append(to: &signature)
        self.signature = signature
    }

    var usesCustomData: Bool {
        var all = names
        if case .users(let rule) = admission { all += rule.names }
        return all.contains { if case .customData = $0 { true } else { false } }
    }

    func applies(to user: UserValues) -> Bool {
        switch admission {
        case .allUsers: true
        case .users(let rule): rule.holds { user[$0] }
        }
    }

    /// The rights of a user that the role applies to.
    func rights(of user: UserValues, to className: Text) -> RoleRights {
        var signature = signature
        for name in names {
            signature.append(name.description)
            signature.append(user[name] ?? .null)
        }
        return RoleRights(
            role: name,
            read: filters.read.query(for: user, of: className),
            write: filters.write.query(for: user, of: className),
            insert: filters.insert.query(for: user, of: className),
            delete: filters.delete.query(for: user, of: className),
            fields: fields,
            signature: signature
        )
    }
}
