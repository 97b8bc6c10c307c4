import Changesets
import ClientReset
import Documents
import Testing

/// Nil: the owner was deleted.
@Suite struct GoldenScenarioTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let local: String
        let remote: String
        /// Nil: as in the list; empty rows of the table have none.
        let list: [Int64]?
        /// Nil: as the list says; empty rows of the table have none.
        let set: Set<Int64>?
        var isListOnly = false

        var testDescription: String { "\(local) | \(remote)" }
    }

    static let rows: [Row] = [
        Row(local: "", remote: "-3 -2 -1", list: [], set: []),
        Row(local: "-3 -2 -1", remote: "", list: [], set: []),
        Row(local: "-3 -2 -1", remote: "-3 -2 -1", list: [], set: []),
        Row(local: "-1", remote: "-3", list: [2, 3], set: [2]),
        Row(local: "+4", remote: "", list: [1, 2, 3, 4], set: [1, 2, 3, 4]),
        Row(local: "+4", remote: "+5 -5 +5", list: [1, 2, 3, 4, 5], set: [1, 2, 3, 4, 5]),
        Row(local: "+4", remote: "+4", list: [1, 2, 3, 4, 4], set: [1, 2, 3, 4]),
        Row(local: "+4 -4", remote: "+5 -5 +5", list: [1, 2, 3, 5], set: [1, 2, 3, 5]),
        Row(local: "+4", remote: "+5 -5", list: [1, 2, 3, 4], set: [1, 2, 3, 4]),
        Row(local: "-2", remote: "+4 +5", list: [1, 3], set: [1, 3, 4, 5]),
        Row(local: "+4", remote: "del4", list: [1, 2, 3], set: [1, 2, 3]),
        Row(local: "clear", remote: "", list: [], set: []),
        Row(local: "", remote: "clear", list: [], set: []),
        Row(local: "clear +1", remote: "clear +2", list: [1], set: [1]),
        Row(
            local: "clear +1 -1 +2 +3",
            remote: "clear +1 -1 +2 +3",
            list: [2, 3],
            set: [2, 3]
        ),
        Row(local: "+4 del4", remote: "+4 +5", list: [1, 2, 3, 5], set: [1, 2, 3, 5]),
        Row(local: "del4", remote: "+4 +5", list: [1, 2, 3, 5], set: [1, 2, 3, 5]),
        Row(local: "del1 del2 new6 +6", remote: "", list: [3, 6], set: [3, 6]),
        Row(local: "+4 +5 new6 +6", remote: "del4 del5", list: [1, 2, 3, 6], set: [1, 2, 3, 6]),
        Row(local: "+4 owner- owner+ +1", remote: "owner-", list: [1], set: [1]),
        Row(local: "+4 owner-", remote: "+5", list: nil, set: nil),
        Row(local: "-1", remote: "owner-", list: nil, set: nil),
        Row(local: "move0>1 +5", remote: "+4", list: [2, 1, 3, 5], set: nil, isListOnly: true),
        Row(local: "move0>1 +5", remote: "+4 del1", list: [2, 3, 5], set: nil, isListOnly: true),
        Row(
            local: "+5 +5 move4>3",
            remote: "+4 del5",
            list: [1, 2, 3],
            set: nil,
            isListOnly: true
        ),
        Row(
            local: "+4 +5 move3>4",
            remote: "move0>1",
            list: [2, 1, 3, 5, 4],
            set: nil,
            isListOnly: true
        ),
        Row(
            local: "+4 +5 move3>4",
            remote: "+1 +2",
            list: [1, 2, 3, 5, 4, 1, 2],
            set: nil,
            isListOnly: true
        ),
        Row(
            local: "+4 +5 move3>4",
            remote: "-1 -2",
            list: [3, 5, 4],
            set: nil,
            isListOnly: true
        ),
        Row(
            local: "+4 +5 move4>3",
            remote: "-1 -2",
            list: [3, 5, 4],
            set: nil,
            isListOnly: true
        ),
        Row(
            local: "+4 +5 move3>4 -5",
            remote: "-1 -2",
            list: [3, 4],
            set: nil,
            isListOnly: true
        ),
        Row(
            local: "new6 +5 +6 4@4 -4 +1",
            remote: "4@0 del5",
            list: [4, 1, 2, 3, 6, 1],
            set: nil,
            isListOnly: true
        ),
        Row(
            local: "+5 1@0 del4",
            remote: "+4 3@3 del5",
            list: [1, 1, 2, 3, 3],
            set: nil,
            isListOnly: true
        ),
    ]

    @Test("A list of links after recovery", arguments: rows, [false, true])
    func list(row: Row, isOneChangeset: Bool) throws {
        let result = try result(row, "list", isOneChangeset)
        guard let expected = row.list else {
            #expect(result == nil)
            return
        }
        #expect(result == .list(expected.map { .scalar(.link(Script.item($0))) }))
    }

    @Test(
        "A set of links after recovery",
        arguments: rows.filter { !$0.isListOnly },
        [false, true]
    )
    func set(row: Row, isOneChangeset: Bool) throws {
        let result = try result(row, "set", isOneChangeset)
        #expect(
            result == row.set.map { .set(ValueSet($0.map { .link(Script.item($0)) })) }
        )
    }

    @Test(
        "A dictionary of links after recovery",
        arguments: rows.filter { !$0.isListOnly },
        [false, true]
    )
    func dictionary(row: Row, isOneChangeset: Bool) throws {
        guard case .dictionary(let members) = try result(row, "dictionary", isOneChangeset) else {
            #expect(row.set == nil)
            return
        }
        let keys = members.values.compactMap { value -> Int64? in
            guard case .scalar(.link(let link)) = value, case .int(let key) = link.key else {
                return nil
            }
            return key
        }
        #expect(Set(keys) == row.set)
    }

    @Test("Discarding gives the server's state", arguments: rows)
    func discard(row: Row) throws {
        var (local, remote) = (Script(try Script.start()), Script(try Script.start()))
        try local.run(row.local, on: "list")
        try remote.run(row.remote, on: "list")
        var realm = local.realm
        _ = try realm.becomeEqual(to: remote.realm)
        #expect(realm == remote.realm)
        #expect(try realm.becomeEqual(to: remote.realm) == [])
    }

    private func result(_ row: Row, _ property: Text, _ isOneChangeset: Bool) throws -> Value? {
        var local = Script(try Script.start(), isOneChangeset: isOneChangeset)
        var remote = Script(try Script.start())
        try local.run(row.local, on: property)
        try remote.run(row.remote, on: property)
        return try Script.recover(local: local, remote: remote).realm
            .value(property, of: Script.owner)
    }
}
