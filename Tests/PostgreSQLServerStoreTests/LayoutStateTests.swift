import Testing

@testable import PostgreSQLServerStore

@Suite("What follows from the state of a database")
struct LayoutStateTests {
    private let row = LayoutState.Row(
        storeID: "a",
        version: LayoutState.version,
        writableFrom: LayoutState.writableFrom,
        controlEpoch: 0
    )

    private func decide(
        _ occasion: LayoutState.Occasion = .start,
        encoding: String = "UTF8",
        relations: Int64 = 20,
        holding row: LayoutState.Row?
    ) -> LayoutState.Decision {
        LayoutState(encoding: encoding, relations: relations, row: row).decision(at: occasion)
    }

    @Test("Tables are made at start in an empty schema, and at no other time")
    func creation() {
        #expect(decide(relations: 0, holding: nil) == .create)
        #expect(decide(relations: 3, holding: nil) == .refuse(.otherTables(3)))
        #expect(
            decide(.reconnection(storeID: "a"), relations: 0, holding: nil)
                == .refuse(.tablesAreGone)
        )
        #expect(
            decide(.reconnection(storeID: "a"), relations: 3, holding: nil)
                == .refuse(.tablesAreGone)
        )
    }

    @Test("Another encoding than UTF-8 is refused, also of an empty database")
    func encodings() {
        #expect(
            decide(encoding: "LATIN1", relations: 0, holding: nil) == .refuse(.encoding("LATIN1"))
        )
        #expect(decide(encoding: "SQL_ASCII", holding: row) == .refuse(.encoding("SQL_ASCII")))
    }

    @Test("A layout that this program may use is used, one of a later program included")
    func versions() {
        #expect(decide(holding: row) == .use(row))
        var newer = row
        newer.version = LayoutState.version + 1
        #expect(decide(holding: newer) == .use(newer))
        newer.writableFrom = LayoutState.version + 1
        #expect(
            decide(holding: newer)
                == .refuse(
                    .newer(
                        version: LayoutState.version + 1,
                        writableFrom: LayoutState.version + 1
                    )
                )
        )
    }

    @Test("Impossible numbers are damage")
    func damage() {
        for (version, writableFrom) in [(0, 0), (1, 0), (-1, 1), (1, 2)] as [(Int64, Int64)] {
            var damaged = row
            damaged.version = version
            damaged.writableFrom = writableFrom
            #expect(decide(holding: damaged) == .refuse(.damaged), "\(version), \(writableFrom)")
        }
    }

    @Test("A store that was moved is not served, and another store is not taken for the same")
    func otherStores() {
        var moved = row
        moved.movedTo = "/var/lib/x"
        #expect(decide(holding: moved) == .refuse(.moved(to: "/var/lib/x")))
        #expect(decide(.reconnection(storeID: "a"), holding: row) == .use(row))
        #expect(decide(.reconnection(storeID: "b"), holding: row) == .refuse(.otherStore))
    }
}
