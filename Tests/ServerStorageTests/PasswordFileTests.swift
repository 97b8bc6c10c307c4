import PostgreSQL
import Testing

@testable import ServerStorage

@Suite("Password files")
struct PasswordFileTests {
    private let file = PasswordFile(
        #"""
        # comment:*:*:*:no
        db1:5432:realm:server:first
        db1:5433:*:server:sec:ond\\x
        a\:b:*:*:*:colon
        too:few:fields
        /run/postgresql:*:*:*:socket
        localhost:*:*:other:local
        *:*:realm:fallback:any
        """#
    )

    @Test(
        "The first line that matches counts",
        arguments: [
            (Target.Host.network(name: "db1", port: 5432), "realm", "server", "first"),
            (.network(name: "db1", port: 5433), "x", "server", #"sec:ond\x"#),
            (.network(name: "a:b", port: 1), "x", "y", "colon"),
            (.socket(directory: "/run/postgresql"), "x", "other", "socket"),
            (.socket(directory: "/elsewhere"), "x", "other", "local"),
            (.network(name: "db9", port: 5432), "realm", "fallback", "any"),
            (.network(name: "db9", port: 5432), "other", "fallback", nil),
            (.network(name: "db1", port: 5434), "realm", "server", nil),
        ] as [(Target.Host, String, String, String?)]
    )
    func lines(host: Target.Host, database: String, user: String, password: String?) {
        #expect(file.password(for: host, database: database, user: user) == password)
    }
}
