package import Changesets
package import Query

/// The rights of a user to the objects of one class.
package enum ClassRights: Hashable, Sendable {
    /// No role applies to the user: no access.
    case noRole
    case role(RoleRights)
}

/// The rights of a role for one user. The conditions contain the user's values as constants.
package struct RoleRights: Hashable, Sendable {
    /// The name of the role.
    package let role: String
    /// The objects that the user may read; includes those of `write`.
    package let read: CheckedQuery
    /// An object before and after a change.
    package let write: CheckedQuery
    /// A new object; included in `write`.
    package let insert: CheckedQuery
    /// An object before its deletion; included in `write`.
    package let delete: CheckedQuery
    package let fields: FieldRights
    let signature: RightsSignature
}

/// The rights of one user at the start of a session.
package struct UserRights: Hashable, Sendable {
    private let classes: [Text: ClassRights]

    init(classes: [Text: ClassRights]) {
        self.classes = classes
    }

    /// A class that the roles do not know, such as one added later, allows nothing.
    package subscript(className: Text) -> ClassRights { classes[className] ?? .noRole }

    /// For a later comparison with the rights of then.
    package var signature: UserRightsSignature { UserRightsSignature(classes) }
}
