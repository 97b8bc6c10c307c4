/// Whether a user may read and write a partition, as a program of the operator decides.
package struct PartitionAccess: Hashable, Sendable {
    package let mayRead: Bool
    /// Never without reading.
    package let mayWrite: Bool

    package init(mayRead: Bool, mayWrite: Bool) {
        self.mayRead = mayRead
        self.mayWrite = mayRead && mayWrite
    }

    package static let nothing = PartitionAccess(mayRead: false, mayWrite: false)
}

extension AccessRules {
    /// Rules for the one user and partition that a decision is about.
    package init(_ access: PartitionAccess) {
        self.init(
            read: access.mayRead ? nil : AccessRule.none,
            write: access.mayWrite ? nil : AccessRule.none
        )
    }
}
