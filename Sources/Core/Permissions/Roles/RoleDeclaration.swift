package import Changesets

/// A role as configured: its texts, not yet checked against a schema (flexible sync, 11.7).
package struct RoleDeclaration: Hashable, Sendable {
    /// For error 231 and reports; unique in its list.
    package var name: String
    /// The users that get the role, as a rule over `user.…`; nil: all.
    package var applyWhen: String?
    /// `document_filters`: ANDed with `read` and `write`.
    package var readFilter: RolePermission?
    package var writeFilter: RolePermission?
    package var read: RolePermission?
    package var write: RolePermission?
    /// ANDed with the right to write; nil: as that.
    package var insert: RolePermission?
    package var delete: RolePermission?
    package var fields: [Text: FieldPermission]
    /// For the fields that `fields` does not name.
    package var additionalFields: FieldPermission?

    package init(
        name: String,
        applyWhen: String? = nil,
        readFilter: RolePermission? = nil,
        writeFilter: RolePermission? = nil,
        read: RolePermission? = nil,
        write: RolePermission? = nil,
        insert: RolePermission? = nil,
        delete: RolePermission? = nil,
        fields: [Text: FieldPermission] = [:],
        additionalFields: FieldPermission? = nil
    ) {
        self.name = name
        self.applyWhen = applyWhen
        self.readFilter = readFilter
        self.writeFilter = writeFilter
        self.read = read
        self.write = write
        self.insert = insert
        self.delete = delete
        self.fields = fields
        self.additionalFields = additionalFields
    }
}

/// Which objects a role allows something on.
package enum RolePermission: Hashable, Sendable {
    case all
    case nothing
    /// A `DocumentFilter`.
    case matching(String)

    package init(_ isAllowed: Bool) {
        self = isAllowed ? .all : .nothing
    }
}

/// The rights to one field. The right to write includes that to read.
package struct FieldPermission: Hashable, Sendable {
    package let read: Bool
    package let write: Bool

    package init(read: Bool = false, write: Bool = false) {
        self.read = read || write
        self.write = write
    }

    package static let all = FieldPermission(read: true, write: true)
    package static let nothing = FieldPermission()
}

/// The roles of an app as configured.
package struct RoleDeclarations: Hashable, Sendable {
    /// The ordered roles of each class that has its own.
    package var classes: [Text: [RoleDeclaration]]
    /// The ordered roles of all other classes.
    package var standard: [RoleDeclaration]

    package init(classes: [Text: [RoleDeclaration]] = [:], standard: [RoleDeclaration] = []) {
        self.classes = classes
        self.standard = standard
    }

    /// There is no second look at the standard roles: a user without a role of the class's own list
    /// has no access to the class.
    package func roles(of className: Text) -> [RoleDeclaration] {
        classes[className] ?? standard
    }
}
