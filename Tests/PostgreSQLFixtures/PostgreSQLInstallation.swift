internal import Glibc

/// The PostgreSQL of this machine, which the tests run.
package enum PostgreSQLInstallation {
    /// The folder of `initdb`, `pg_ctl` and `postgres`; nil where they are not installed.
    static let programs: String? = folders().first { folder in
        ["initdb", "pg_ctl", "postgres"].allSatisfy { access("\(folder)/\($0)", X_OK) == 0 }
    }

    /// Whether suites that need a server run. Where one is required, they fail without.
    package static let isRequiredOrPresent =
        programs != nil || isSet("REALM_REQUIRE_POSTGRESQL") || isSet("CI")

    /// The reason for a skipped suite.
    package static let absence = "initdb is not here: install postgresql-15 (make setup)"

    private static func isSet(_ name: String) -> Bool {
        getenv(name).map { $0[0] != 0 && String(cString: $0) != "0" } ?? false
    }

    /// Debian's folders, the newest version first, then those of the PATH.
    private static func folders() -> [String] {
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        return (14...30).reversed().map { "/usr/lib/postgresql/\($0)/bin" }
            + path.split(separator: ":").map(String.init)
    }
}

/// A step of a test's surroundings that failed.
package struct FixtureFailure: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
