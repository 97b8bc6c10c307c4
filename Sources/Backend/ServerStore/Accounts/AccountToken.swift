/// Proves that its bearer reads an account's mail; the operator delivers it (app services, 6.1).
package struct AccountToken: Hashable, Sendable {
    package enum Purpose: String, Hashable, Sendable {
        case confirm
        case reset
    }

    package let name: UserName
    package let purpose: Purpose
    package let id: String
    package let token: String
    /// Milliseconds since 1970.
    package let createdAt: Int64

    package init(
        name: UserName,
        purpose: Purpose,
        id: String,
        token: String,
        createdAt: Int64
    ) {
        self.name = name
        self.purpose = purpose
        self.id = id
        self.token = token
        self.createdAt = createdAt
    }
}
