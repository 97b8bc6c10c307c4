internal import CPostgres
internal import Glibc
import Synchronization

/// Keeps libpq from variables that no parameter overrides.
enum LibraryEnvironment {
    private static let lock = Mutex(())

    /// Variables that libpq reads without a parameter of the same meaning.
    private static let withoutParameter = [
        "PGSERVICE", "PGSERVICEFILE", "PGDATESTYLE", "PGTZ", "PGGEQO",
    ]

    /// Removes those variables from this process.
    ///
    /// Parameters override the others. Newer versions of libpq have more: they are asked for.
    static func removeVariables(besides keywords: Set<String>) {
        lock.withLock { _ in
            for name in withoutParameter { remove(name) }
            guard let options = PQconndefaults() else { return }
            defer { PQconninfoFree(options) }
            var option = options
            while let keyword = option.pointee.keyword {
                if !keywords.contains(String(cString: keyword)), let name = option.pointee.envvar {
                    remove(String(cString: name))
                }
                option += 1
            }
        }
    }

    /// A process without the variable, which is any but a strange one, is not touched: to remove one
    /// while another thread reads variables can hide a second one from it for that moment.
    private static func remove(_ name: String) {
        if getenv(name) != nil { unsetenv(name) }
    }
}
