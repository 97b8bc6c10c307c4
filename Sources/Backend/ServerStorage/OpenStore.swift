package import ServerStore

/// A store that is open, and the backplane of the processes that share it.
package struct OpenStore: Sendable {
    package let store: any Store
    package let backplane: any Backplane
    private let end: @Sendable () async -> Void

    init(
        _ store: any Store,
        _ backplane: any Backplane,
        end: @escaping @Sendable () async -> Void
    ) {
        self.store = store
        self.backplane = backplane
        self.end = end
    }

    /// Ends all use of the store; later calls throw errors.
    package func close() async {
        await end()
    }
}
