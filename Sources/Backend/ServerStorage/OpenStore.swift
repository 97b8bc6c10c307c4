package import ServerStore

/// A store that is open, and the backplane of the processes that share it.
package struct OpenStore: Sendable {
    package let store: any Store
    package let backplane: any Backplane
    /// Nil for a store that other programs cannot query.
    package let views: (any ObjectViews)?
    private let end: @Sendable () async -> Void

    init(
        _ store: any Store,
        _ backplane: any Backplane,
        views: (any ObjectViews)? = nil,
        end: @escaping @Sendable () async -> Void
    ) {
        self.store = store
        self.backplane = backplane
        self.views = views
        self.end = end
    }

    /// Ends all use of the store; later calls throw errors.
    package func close() async {
        await end()
    }
}
