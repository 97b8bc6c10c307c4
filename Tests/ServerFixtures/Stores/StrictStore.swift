import SQLiteServerStore
package import ServerStore

extension Store where Self == GuardingStore {
    /// A store under every rule of the contract that the embedded store could overlook: each body runs
    /// twice, writes stay within their scope, and the guards of sessions hold.
    package static func strict(_ store: any Store) -> GuardingStore {
        GuardingStore(RepeatingStore(ScopedStore(store)))
    }

    /// The same on a new store in memory.
    package static func strictInMemory() async throws(StoreError) -> GuardingStore {
        strict(try await SQLiteStore(.memory))
    }
}
