/// The bodies, and the bytes of their changesets, that may share a transaction.
package struct BatchLimits: Hashable, Sendable {
    package var bodies: Int
    package var sizeInBytes: Int

    package init(bodies: Int = 64, sizeInBytes: Int = 4 << 20) {
        self.bodies = bodies
        self.sizeInBytes = sizeInBytes
    }
}
