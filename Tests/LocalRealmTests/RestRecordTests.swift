import Changesets
import ClientReset
import FoundationEssentials
import Glibc
import SQLite
import Schemas
import Scopes
import TestSupport
import Testing
import Versions

@testable import LocalRealm

/// A realm with nothing to upload is opened again without being read, as long as nothing has touched its file.
@Suite("The record of a file at rest", .timeLimit(.minutes(10)))
struct RestRecordTests {
    let fixture: RealmFixture

    init() throws {
        fixture = try RealmFixture(.notes)
        try fixture.settle(ident: 2)
    }

    @Test("A file that nothing has touched is not read before its first use")
    func untouched() throws {
        let before = fixture.realm.status
        try fixture.reopen(.notes)
        let realm = fixture.realm
        #expect(realm.rest.isUnread)
        #expect(realm.status == before)
        #expect(realm.isDurable)
        #expect(try realm.acknowledgedVersion() == before.localVersion)
        #expect(try realm.resetAttempt() == nil)
        #expect(realm.rest.takeIfSilent())
        #expect(fixture.openFiles == ["\(fixture.path).lock"])
        // The same record serves again.
        try fixture.reopen(.notes)
        #expect(fixture.realm.rest.isUnread)

        #expect(try fixture.realm.schema == .notes)
        #expect(!fixture.realm.rest.isUnread)
        #expect(fixture.realm.status == before)
    }

    @Test("A rest writes the record, too: for an agent that is killed")
    func rest() throws {
        _ = try fixture.realm.drain()
        _ = try fixture.realm.acknowledgedVersion()
        fixture.rest()
        let copy = try fixture.lockContent()
        #expect(!copy.isEmpty)
        try fixture.reopen(.notes)
        #expect(fixture.realm.rest.isUnread)
    }

    @Test(
        "What the server says of a silent realm, and then of one with news, is the same as without a record"
    )
    func server() throws {
        let bare = try RealmFixture(.notes)
        try bare.settle(ident: 2)
        try fixture.reopen(.notes)
        try bare.reopenWithoutRecord()
        #expect(fixture.realm.rest.isUnread)
        #expect(!bare.realm.rest.isUnread)
        for fixture in [fixture, bare] {
            // An agent asks for it at once.
            _ = try fixture.realm.acknowledgedVersion()
            let known = fixture.realm.status.localVersion.rawValue
            let version = fixture.realm.status.progress.download.serverVersion.rawValue
            try fixture.receive(upTo: version, after: known)
        }
        #expect(fixture.realm.rest.isUnread)
        for fixture in [fixture, bare] {
            try fixture.receive(after: fixture.realm.status.localVersion.rawValue) {
                $0.createObject(.init("Note", 70))
            }
            try fixture.connect().execute("INSERT INTO Note VALUES (71, 'x')")
            _ = try fixture.realm.drain()
        }
        #expect(fixture.realm.status.progress == bare.realm.status.progress)
        #expect(fixture.realm.status.localVersion == bare.realm.status.localVersion)
        let rows = "SELECT * FROM Note ORDER BY _id"
        #expect(try fixture.rows(rows) == bare.rows(rows))
    }

    // MARK: Work that waits

    @Test("A change that the server has not taken keeps the record away", arguments: [true, false])
    func waiting(isDrained: Bool) throws {
        try fixture.connect().execute("INSERT INTO Note VALUES (1, 'x')")
        if isDrained { _ = try fixture.realm.drain() }
        _ = try fixture.realm.acknowledgedVersion()
        try fixture.reopen(.notes)
        #expect(!fixture.realm.rest.isUnread)
        #expect(try fixture.realm.drain().changesetCount == (isDrained ? 0 : 1))
    }

    @Test("So does a reset that is not proven")
    func reset() throws {
        let attempt = ResetAttempt(
            agentVersion: "1",
            startedAt: 7,
            method: .discard,
            cause: ResetCause(action: .clientReset, code: 208, message: "")
        )
        try fixture.realm.beginReset(attempt)
        _ = try fixture.realm.acknowledgedVersion()
        try fixture.reopen(.notes)
        #expect(!fixture.realm.rest.isUnread)
        #expect(try fixture.realm.resetAttempt() != nil)
    }

    @Test("So does a first download that is not finished")
    func unfinished() throws {
        let fixture = try RealmFixture(.notes)
        _ = try fixture.realm.acknowledgedVersion()
        try fixture.reopen(.notes)
        #expect(!fixture.realm.rest.isUnread)
    }

    // MARK: What others do meanwhile

    @Test("A file that anything has touched is read")
    func touched() throws {
        let touches: [(String, (RealmFixture) throws -> Void)] = [
            ("a row", { try $0.connect().execute("INSERT INTO Note VALUES (1, 'x')") }),
            ("a table of an application", { try $0.connect().execute("CREATE TABLE own(x)") }),
            (
                "a row, in a journal mode without a log",
                {
                    let program = try $0.connect()
                    try program.execute("PRAGMA journal_mode = DELETE")
                    try program.execute("INSERT INTO Note VALUES (1, 'x')")
                }
            ),
            (
                "a log that stays",
                {
                    let program = try $0.connect()
                    try program.setCheckpointOnClose(false)
                    try program.execute("INSERT INTO Note VALUES (1, 'x')")
                }
            ),
            (
                "a copy in its place",
                {
                    let bytes = try Data(contentsOf: URL(filePath: $0.path))
                    try bytes.write(to: URL(filePath: $0.path), options: .atomic)
                }
            ),
            (
                "bytes with the times of before",
                { fixture in
                    // The user's own number in the header.
                    let file = open(fixture.path, O_RDWR)
                    var before = stat()
                    #expect(fstat(file, &before) == 0)
                    #expect(pwrite(file, [0, 0, 0, 9], 4, 60) == 4)
                    #expect(futimens(file, [before.st_atim, before.st_mtim]) == 0)
                    close(file)
                }
            ),
        ]
        for (name, touch) in touches {
            let fixture = try RealmFixture(.notes)
            try fixture.settle(ident: 2)
            fixture.realm.close()
            #expect(try !fixture.lockContent().isEmpty)
            try touch(fixture)
            try fixture.reopen(.notes)
            #expect(!fixture.realm.rest.isUnread, "\(name)")
        }
    }

    @Test("A program that keeps the file open and writes nothing changes nothing")
    func reader() throws {
        fixture.realm.close()
        let program = try fixture.connect()
        #expect(try program.integer("SELECT count(*) FROM Note") != nil)
        try fixture.reopen(.notes)
        #expect(fixture.realm.rest.isUnread)
        try program.execute("INSERT INTO Note VALUES (1, 'x')")
        #expect(try fixture.drained().first == "CreateObject Note 1")
    }

    @Test("A file that is restored before its first use is noticed", arguments: [true, false])
    func restored(isSameFile: Bool) throws {
        let earlier = try RealmFixture(.notes)
        try earlier.settle(ident: 3)
        earlier.realm.close()
        try fixture.reopen(.notes)
        #expect(fixture.realm.rest.isUnread)
        let bytes = try Data(contentsOf: URL(filePath: earlier.path))
        try bytes.write(to: URL(filePath: fixture.path), options: isSameFile ? [] : .atomic)
        let error = #expect(throws: LocalRealmError.self) { try fixture.realm.drain() }
        #expect(error?.kind == .replaced)
        #expect(fixture.realm.rest.isUnread)
        #expect(try fixture.lockContent().isEmpty)
    }

    @Test("After a call that fails the next opening reads the file, and meets the error")
    func failure() throws {
        try fixture.reopen(.notes)
        // A unique index on a class refuses each download.
        try fixture.connect().execute("CREATE UNIQUE INDEX own ON Note(text)")
        try fixture.settleAgain()
        try fixture.reopen(.notes)
        #expect(fixture.realm.rest.isUnread)
        #expect(throws: LocalRealmError.self) {
            try fixture.receive { $0.createObject(.init("Note", 70)) }
        }
        #expect(try fixture.lockContent().isEmpty)
        try fixture.reopen(.notes)
        #expect(!fixture.realm.rest.isUnread)
    }

    @Test("A busy file keeps its record")
    func busy() throws {
        try fixture.reopen(.notes) { $0.busyTimeout = .zero }
        #expect(fixture.realm.rest.isUnread)
        let program = try fixture.connect()
        try program.execute("BEGIN IMMEDIATE")
        let error = #expect(throws: LocalRealmError.self) { try fixture.realm.drain() }
        #expect(error?.kind == .busy)
        try program.execute("ROLLBACK")
        #expect(try fixture.realm.drain().changesetCount == 0)
        #expect(try !fixture.lockContent().isEmpty)
    }

    @Test("A file whose times are whole seconds settles after two of them")
    func wholeSeconds() throws {
        let now = timespec(tv_sec: time(nil), tv_nsec: 0)
        // The change time cannot be set, so that only a fine one is found here.
        #expect(utimensat(AT_FDCWD, fixture.path, [now, now], 0) == 0)
        usleep(30_000)
        #expect(FileTrace(path: fixture.path)?.isSettled == true)
        #expect(!FileTrace.isSettled(lastChange: .seconds(100), isCoarse: true, now: .seconds(102)))
        #expect(FileTrace.isSettled(lastChange: .seconds(100), isCoarse: true, now: .seconds(103)))
        #expect(
            !FileTrace.isSettled(lastChange: .seconds(100), isCoarse: false, now: .seconds(100))
        )
        #expect(!FileTrace.isSettled(lastChange: .seconds(100), isCoarse: false, now: .seconds(9)))
    }

    @Test("A file behind a symbolic link has no record: its log is elsewhere")
    func link() throws {
        fixture.realm.close()
        let directory = try TemporaryDirectory()
        let path = directory.file("link.sqlite")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: fixture.path)
        for _ in 0..<2 {
            let realm = try RealmFixture.open(path, .notes)
            #expect(!realm.rest.isUnread)
            _ = try realm.drain()
            _ = try realm.acknowledgedVersion()
            realm.close()
        }
    }

    @Test("A copy that was made with its lock file is a file of its own")
    func copied() throws {
        fixture.realm.close()
        let directory = try TemporaryDirectory()
        let path = directory.file("stock.sqlite")
        for suffix in ["", ".lock"] {
            try FileManager.default.copyItem(atPath: fixture.path + suffix, toPath: path + suffix)
        }
        let copy = try RealmFixture.open(path, .notes)
        #expect(!copy.rest.isUnread)
        #expect(copy.status.isAdoptedCopy)
    }

    @Test("Other settings than before are applied")
    func settings() throws {
        let wider = RealmSchema(
            RealmSchema.notes.classes + [
                ClassSchema(
                    name: "Tag",
                    kind: .topLevel(.int)
                )
            ]
        )
        try fixture.reopen(wider)
        #expect(!fixture.realm.rest.isUnread)
        #expect(try fixture.realm.schema["Tag"] != nil)
        try fixture.reopenWithoutRecord()
        _ = try fixture.realm.acknowledgedVersion()
        try fixture.reopen(.notes) { $0.isReadOnly = true }
        #expect(!fixture.realm.rest.isUnread)
        #expect(throws: SQLiteError.self) {
            try fixture.connect().execute("INSERT INTO Note VALUES (1, 'x')")
        }
    }

    @Test("Another owner is refused, and another machine's file is adopted")
    func owners() throws {
        fixture.realm.close()
        let stranger = RealmOwner(
            appID: "shop-abcde",
            userID: "other",
            scope: RealmOwner.test.scope
        )
        let error = #expect(throws: LocalRealmError.self) {
            try RealmFixture.open(fixture.path, .notes, owner: stranger)
        }
        #expect(error?.kind == .wrongOwner)
        let adopted = try RealmFixture.open(fixture.path, .notes, machineID: "other")
        #expect(adopted.status.isAdoptedCopy)
    }

    // MARK: Damage

    @Test("A record that is cut off, altered or of another format is not believed")
    func damage() throws {
        fixture.realm.close()
        let lock = "\(fixture.path).lock"
        let intact = try fixture.lockContent()
        var random = SplitMix64(seed: 5)
        var damaged: [[UInt8]] = [[], Array(repeating: 0, count: intact.count), intact + [10]]
        damaged += (0..<intact.count).map { Array(intact[..<$0]) }
        for position in intact.indices {
            var bytes = intact
            bytes[position] ^= UInt8.random(in: 1...255, using: &random)
            damaged.append(bytes)
        }
        damaged.append(Array(repeating: UInt8(ascii: "1"), count: 100_000))
        for bytes in damaged {
            try Data(bytes).write(to: URL(filePath: lock))
            let held = try FileLock(path: lock)
            let records = try #require(RestRecords(fixture.configuration, held))
            #expect(records.read(machineID: "machine") == nil)
        }
        try Data(intact).write(to: URL(filePath: lock))
        try fixture.reopen(.notes)
        #expect(fixture.realm.rest.isUnread)
    }

    @Test("Numbers that no file has are not believed, with a right checksum either")
    func impossible() throws {
        fixture.realm.close()
        let head = "head\n"
        let row = RealmStateRow(instance: Array(repeating: 7, count: 16), home: "h", owner: .test)
        func read(_ row: RealmStateRow) -> RealmStateRow? {
            RestRecord(RestRecord(row: row).bytes(head: head), head: head, home: "h", owner: .test)?
                .row
        }
        #expect(read(row) == row)
        for version in [UInt64(Int64.max), UInt64.max] {
            var damaged = row
            damaged.localVersion = ClientVersion(version)
            #expect(read(damaged) == nil)
        }
        var short = row
        short.instance = [1, 2]
        #expect(read(short) == nil)
    }

    // MARK: Races

    @Test("Writes before the watch begins, and after it, are noticed without a first look")
    func watch() async throws {
        for isBefore in [true, false] {
            try fixture.settleAgain()
            try fixture.reopen(.notes)
            #expect(fixture.realm.rest.isUnread)
            if isBefore { try await Tool.insertNote(1, into: fixture.path) }
            let captures = try CommitWatcher(
                path: fixture.path,
                .init(pollInterval: .seconds(3600)),
                beside: fixture.realm.ownWrites
            ).captures()
            if !isBefore {
                #expect(fixture.openFiles == ["\(fixture.path).lock"])
                try await Tool.insertNote(2, into: fixture.path)
            }
            var iterator = captures.makeAsyncIterator()
            #expect(await iterator.next() != nil)
            #expect(try fixture.realm.drain().changesetCount == 1)
        }
    }

    @Test(
        "A write between the looks of a close, or after the last, is not overlooked",
        arguments: [1, 2]
    )
    func writeBetween(look: Int) throws {
        let rest = fixture.realm.rest
        let original = rest.stateWithoutWork
        var looks = 0
        rest.stateWithoutWork = { [fixture] in
            let state = try original()
            looks += 1
            if looks == look {
                try fixture.connect().execute("INSERT INTO Note VALUES (1, 'x')")
                // Old enough to be taken for the state of before.
                usleep(100_000)
            }
            return state
        }
        try fixture.reopen(.notes)
        #expect(looks == 2)
        #expect(!fixture.realm.rest.isUnread)
        #expect(try fixture.realm.drain().changesetCount == 1)
    }

    @Test("Nor is one at the same moment by the file system's clock as the last one before")
    func sameMoment() throws {
        for number in 101...140 {
            try fixture.settleAgain()
            fixture.realm.close()
            // The record is written by now; any other write has another time.
            try fixture.connect().execute("INSERT INTO Note VALUES (\(number), 'x')")
            try fixture.reopen(.notes)
            #expect(!fixture.realm.rest.isUnread)
            #expect(try fixture.realm.drain().changesetCount == 1)
        }
    }

    @Test("The connection of a watch that has just ended does not keep the log")
    func watchEnds() async throws {
        for number in 201...220 {
            let captures = try CommitWatcher(
                path: fixture.path,
                .init(pollInterval: .seconds(3600)),
                beside: fixture.realm.ownWrites
            ).captures()
            var iterator = captures.makeAsyncIterator()
            try await Tool.insertNote(number, into: fixture.path)
            #expect(await iterator.next() != nil)
            let reader = Task { for await _ in captures {} }
            try fixture.settleAgain()
            reader.cancel()
            await reader.value
            try fixture.reopen(.notes)
            #expect(fixture.realm.rest.isUnread)
            #expect(fixture.openFiles == ["\(fixture.path).lock"])
        }
    }

    /// A program writes at any time while files close and open: when one is opened unread, nothing may wait in it.
    @Test("No write of a program beside closing and opening is overlooked")
    func races() async throws {
        let rounds = Seeds.some(60).count
        let path = fixture.path
        let program = Task.detached {
            var random = SplitMix64(seed: 11)
            var number = 1_000_000
            var connection: Connection?
            while !Task.isCancelled {
                connection = try connection ?? Connection(path: path)
                try connection?.execute("INSERT INTO Note VALUES (\(number), 'x')")
                if Bool.random(using: &random) { connection = nil }
                number += 1
                let pause =
                    Bool.random(using: &random) ? 1 : Int.random(in: 20...300, using: &random)
                try? await Task.sleep(for: .milliseconds(pause))
            }
            return number - 1_000_000
        }
        var unread = 0
        var drained = 0
        for _ in 0..<rounds {
            drained += try fixture.settleAgain()
            try fixture.reopen(.notes)
            guard fixture.realm.rest.isUnread else { continue }
            unread += 1
            let traces = fixture.realm.ownWrites.tracesWithoutWrites
            let waiting = try fixture.rows("SELECT count(*) FROM _realm_capture")
            // A write since the opening gives the file other traces, which the watch compares.
            let isUntouched = FileTraces(path: path, logPath: path + "-wal") == traces
            if isUntouched { #expect(waiting == ["0"]) }
        }
        program.cancel()
        let written = try await program.value
        // The first may drain some more writes after it has looked at the history.
        for _ in 0..<2 { drained += try fixture.settleAgain() }
        #expect(drained == written)
        #expect(unread > 0)
    }
}

extension RealmFixture {
    var configuration: LocalRealmConfiguration {
        LocalRealmConfiguration(path: path, owner: .test, machineID: "machine", schema: .notes)
    }

    /// Gives the realm an ident and an object, and acknowledges all that it has written.
    fileprivate func settle(ident: UInt64) throws {
        _ = try realm.drain()
        try realm.storeFileIdent(SaltedFileIdent(ident: FileIdent(ident), salt: Salt(9)))
        try receive { $0.createObject(.init("Note", 7)) }
        try realm.markDownloadCompleted()
        try settleAgain()
    }

    /// Drains, and acknowledges everything.
    ///
    /// - Returns: how many objects the acknowledged changesets create.
    @discardableResult
    fileprivate func settleAgain() throws -> Int {
        let newest = try realm.drain().localVersion
        let lines = try history(after: 0).flatMap(\.lines)
        let version = realm.status.progress.download.serverVersion.rawValue + 1
        try receive(upTo: version, after: newest.rawValue)
        _ = try realm.acknowledgedVersion()
        return lines.filter { $0.hasPrefix("CreateObject Note 1") }.count
    }

    fileprivate func rest() {
        #expect((0..<3).contains { _ in realm.rest.takeIfSilent() })
    }

    fileprivate func lockContent() throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: "\(path).lock")))
    }

    fileprivate func reopenWithoutRecord() throws {
        realm.close()
        try Data().write(to: URL(filePath: "\(path).lock"))
        try reopen(.notes)
    }
}
