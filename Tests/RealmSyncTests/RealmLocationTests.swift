import Scopes
import Testing

@testable import RealmSync

@Suite("The path of a realm's file")
struct RealmLocationTests {
    private func location() -> RealmLocation {
        RealmLocation(placeholder: "/srv/${user.id}.sqlite") { "/srv/\($0).sqlite" }
    }

    @Test("It is known once the user is, in all copies of the options")
    func located() throws {
        var options = RealmOptions(name: "stock", path: "/srv/stock.sqlite", partition: .null)
        let fixed = options
        try fixed.location.locate(userID: "65a1")
        #expect(fixed.path == "/srv/stock.sqlite")

        options.location = location()
        let copy = options
        #expect(copy.path == "/srv/${user.id}.sqlite")
        try options.location.locate(userID: "65a1")
        #expect(copy.path == "/srv/65a1.sqlite")
        try options.location.locate(userID: "65a2")
        #expect(copy.path == "/srv/65a2.sqlite")
        #expect(fixed.path == "/srv/stock.sqlite")
    }

    @Test(
        "An id of a server that could lead to another directory is refused, and changes nothing",
        arguments: [
            "", ".", "..", "../../etc/passwd", "a/b", "a\0b", "a.b", "é",
            String(repeating: "a", count: 129),
        ]
    )
    func hostile(userID: String) throws {
        let location = location()
        try location.locate(userID: "65a1f0c2e4b0a1b2c3d4e600")
        #expect(throws: UnusableScope.self) { try location.locate(userID: userID) }
        #expect(location.path == "/srv/65a1f0c2e4b0a1b2c3d4e600.sqlite")
    }
}
