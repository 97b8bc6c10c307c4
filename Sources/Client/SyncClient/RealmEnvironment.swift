package import LocalRealm
package import SQLite

/// Services of the process that a realm needs, except time and network. A simulation supplies its
/// own.
package struct RealmEnvironment: Sendable {
    /// A thread of its own for blocking work, under a label.
    package var executor: @Sendable (_ label: String) -> DatabaseExecutor
    /// Reports other programs' writes to the realm at a path, as `CommitWatcher` does; the agent's
    /// own writes are not reported.
    package var captures: Captures
    package var random: @Sendable () -> any RandomNumberGenerator & Sendable
    /// The SQLite file layer; nil is the library's own.
    package var vfs: String?

    package typealias Captures =
        @Sendable (_ path: String, _ ownWrites: OwnWrites) -> Result<
            AsyncStream<Void>, LocalRealmError
        >

    package init(
        executor: @escaping @Sendable (_ label: String) -> DatabaseExecutor,
        captures: @escaping Captures,
        random: @escaping @Sendable () -> any RandomNumberGenerator & Sendable,
        vfs: String? = nil
    ) {
        self.executor = executor
        self.captures = captures
        self.random = random
        self.vfs = vfs
    }

    /// Those of this process.
    package static let process = RealmEnvironment(
        executor: { _ in DatabaseThreads.shared.executor() },
        captures: { path, ownWrites in
            Result { () throws(LocalRealmError) in
                try CommitWatcher(path: path, beside: ownWrites).captures()
            }
        },
        random: { SystemRandomNumberGenerator() }
    )
}
