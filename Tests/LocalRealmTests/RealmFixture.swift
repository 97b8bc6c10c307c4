import Changesets
import Documents
import FoundationEssentials
import LocalRealm
import SQLite
import Schemas
import Scopes
import TestSupport
import Versions

/// A local realm in a directory of its own, with the tools that a test needs.
final class RealmFixture {
    let directory: TemporaryDirectory
    let path: String
    /// Milliseconds since 1970; the realm's clock.
    let clock = TestClock()
    private(set) var realm: RealmFile

    /// 2026-03-04T05:06:07Z.
    static let instant: Int64 = 1_772_600_767_000

    init(
        _ schema: RealmSchema? = nil,
        options: [PropertyName: PropertyOptions] = [:],
        vfs: String? = nil,
        _ adjust: (inout LocalRealmConfiguration) -> Void = { _ in }
    ) throws {
        directory = try TemporaryDirectory()
        path = directory.file("stock.sqlite")
        realm = try Self.open(path, schema, options: options, vfs: vfs, clock, adjust)
    }

    /// A copy of another realm, opened by its owner.
    init(_ form: RealmCopy.Form, of source: String, owner: RealmOwner) throws {
        directory = try TemporaryDirectory()
        path = directory.file("stock.sqlite")
        _ = try RealmCopy(form, now: clock.now).make(from: source, to: path)
        realm = try Self.open(path, nil, clock, owner: owner)
    }

    static func open(
        _ path: String,
        _ schema: RealmSchema? = nil,
        options: [PropertyName: PropertyOptions] = [:],
        vfs: String? = nil,
        _ clock: TestClock = TestClock(),
        owner: RealmOwner = .test,
        machineID: String = "machine",
        _ adjust: (inout LocalRealmConfiguration) -> Void = { _ in }
    ) throws(LocalRealmError) -> RealmFile {
        var random = SplitMix64(seed: 7)
        var configuration = LocalRealmConfiguration(
            path: path,
            owner: owner,
            machineID: machineID,
            schema: schema,
            options: options,
            vfs: vfs
        )
        adjust(&configuration)
        return try RealmFile.open(
            configuration,
            clock: { clock.now },
            random: &random
        )
    }

    func reopen(
        _ schema: RealmSchema? = nil,
        options: [PropertyName: PropertyOptions] = [:],
        vfs: String? = nil,
        _ adjust: (inout LocalRealmConfiguration) -> Void = { _ in }
    ) throws(LocalRealmError) {
        realm.close()
        realm = try Self.open(path, schema, options: options, vfs: vfs, clock, adjust)
    }

    /// Another program's connection to the file.
    func connect(vfs: String? = nil) throws -> Connection {
        try Connection(path: path, Connection.Options(vfs: vfs))
    }
}

final class TestClock {
    var now = RealmFixture.instant
}

extension RealmOwner {
    static let test = RealmOwner(
        appID: "shop-abcde",
        userID: "till-7",
        scope: .partition(.string("store-42"))
    )
}

extension RealmFixture {
    /// Those of the realm that this process has open.
    var openFiles: Set<String> {
        let directory = "/proc/self/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        let files = names.compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "\(directory)/\($0)")
        }
        return Set(files.filter { $0.hasPrefix(path) })
    }
}
