import Changesets
import LocalRealm
import SQLite
import Versions

/// What a hostile program writes: rows of the capture log with any values, and rows of the classes with triggers and checks
/// switched off. The agent drains it.
enum CaptureInput {
    static func run(_ bytes: [UInt8], _ claims: inout Claims) {
        guard let scratch = ScratchRealm() else { return }
        defer { scratch.remove() }
        guard let realm = try? scratch.open() else {
            return claims.check(false, "the template cannot be opened")
        }
        defer { realm.close() }
        guard let program = scratch.connect() else { return }
        var choices = Choices(bytes)
        // Half of the inputs are of programs that log by the rules.
        let isHostile = choices.byte() % 2 == 1
        write(&choices, isHostile: isHostile, by: program)
        program.close()
        drain(realm, &claims)
    }

    private static func write(_ choices: inout Choices, isHostile: Bool, by program: Connection) {
        if isHostile {
            try? program.execute("PRAGMA ignore_check_constraints = 1")
            try? program.setTriggersEnabled(false)
        }
        try? program.execute("BEGIN IMMEDIATE")
        var steps = 0
        while !choices.isEmpty, steps < 200 {
            steps += 1
            step(&choices, isHostile: isHostile, by: program)
        }
        try? program.execute("COMMIT")
    }

    /// A statement that the file refuses is one without effect.
    private static func step(_ choices: inout Choices, isHostile: Bool, by program: Connection) {
        switch choices.byte() % 8 {
        case 0, 1, 2:
            guard isHostile else { return change(&choices, by: program) }
            try? program.run(
                "INSERT INTO _realm_capture(at, class, key, prop, old) VALUES (?1, ?2, ?3, ?4, ?5)",
                [
                    .integer(choices.integer()), .integer(choices.integer()), choices.value(),
                    .integer(choices.integer()), choices.value(),
                ]
            )
        case 3:
            guard isHostile else { return change(&choices, by: program) }
            try? program.run(
                "INSERT OR REPLACE INTO _realm_capture(seq, at, class, key, prop) VALUES (?1, ?2, ?3, ?4, ?5)",
                [
                    .integer(choices.integer()), .integer(choices.integer()),
                    .integer(choices.integer()),
                    choices.value(), .integer(choices.integer()),
                ]
            )
        case 4:
            try? program.run(
                "INSERT OR REPLACE INTO Task(_id, title, owner) VALUES (?1, ?2, ?3)",
                [choices.value(), choices.value(), choices.value()]
            )
        case 5:
            try? program.run(
                "INSERT OR REPLACE INTO Person(_id, name) VALUES (?1, ?2)",
                [choices.value(), choices.value()]
            )
        case 6:
            let table = choices.element(of: ["Task", "Person"])
            try? program.run("DELETE FROM \(table) WHERE _id IS ?1", [choices.value()])
        default: change(&choices, by: program)
        }
    }

    private static func change(_ choices: inout Choices, by program: Connection) {
        let column = choices.element(of: columns)
        try? program.run(
            "UPDATE Task SET \(column) = ?1 WHERE _id = ?2",
            [choices.value(), .integer(choices.integer())]
        )
    }

    private static let columns = [
        "title", "done", "views", "price", "ratio", "at", "data", "id", "owner", "any", "tags",
        "labels", "notes", "members",
        "home", "stops",
    ]

    /// The changesets of the history can be read, and a second drain finds nothing.
    static func drain(_ realm: RealmFile, _ claims: inout Claims) {
        guard let report = try? realm.drain() else { return }
        let again = try? realm.drain()
        claims.check(again?.localVersion == report.localVersion, "a second drain finds something")
        guard let batch = try? realm.scanUploads(from: .zero, upTo: report.localVersion) else {
            return claims.check(false, "uploads cannot be read")
        }
        for upload in batch.changesets {
            claims.check(
                (try? Changeset(decoding: upload.bytes)) != nil,
                "an upload cannot be decoded"
            )
        }
    }
}
