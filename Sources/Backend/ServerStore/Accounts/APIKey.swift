/// A key that logs a machine in (app services, 7.5). The key itself is shown once and never kept.
package struct APIKey: Hashable, Sendable {
    /// 24 hexadecimal digits.
    package let id: String
    /// Nil for a key of the operator: its first use creates its user.
    package let owner: UserID?
    package let name: String
    package let isDisabled: Bool

    package init(id: String, owner: UserID?, name: String, isDisabled: Bool = false) {
        self.id = id
        self.owner = owner
        self.name = name
        self.isDisabled = isDisabled
    }
}
