import Changesets
import Documents
import Permissions
import Query
import Schemas
import Testing
import Versions

@testable import ServerStore
@testable import SyncServer

@Suite("Fan-out of a file's growth")
struct FileFanoutTests {
    private static let settings = FlexibleSettings(roles: { AppRoles(ViewWorld.allUsers, $0, $1) })

    private static func view(_ condition: String, of className: String = "Person") throws
        -> ClientView
    {
        let user = User(id: ViewWorld.ann, identities: [], isDisabled: false)
        let rights = AppRoles(
            ViewWorld.allUsers,
            ViewWorld.schema,
            settings.rules(ViewWorld.schema)
        )
        .rights(of: UserValues(id: user.id.rawValue, type: "normal"))
        return try settings.view(
            SubscriptionSetBody(decoding: Array(#"{"\#(className)":"(\#(condition))"}"#.utf8)),
            of: rights,
            ViewWorld.schema,
            acceptsUnknownClasses: false
        )
    }

    private static func session(_ ident: UInt64, epoch: UInt64 = 1) -> ViewSession {
        ViewSession(file: ServerFileID(1), ident: FileIdent(ident), epoch: epoch)
    }

    private static func person(age: Int64) throws -> DocumentObject {
        let owner = try #require(ViewWorld.schema["Person"])
        var document = Document(defaultsOf: owner)
        document.values[0] = .scalar(.int(age))
        return DocumentObject(key: .int(1), document, of: owner)
    }

    private static func growth(
        to version: UInt64,
        ages: Int64...,
        by author: UInt64 = 99
    ) throws -> FileGrowth {
        FileGrowth(
            end: ServerVersion(version),
            content: .changes(
                .init(
                    authors: [FileIdent(author)],
                    objects: [.init(className: "Person", images: try ages.map(person))]
                )
            )
        )
    }

    private func version(_ number: UInt64) -> ServerVersion { ServerVersion(number) }

    @Test("A change tells the sessions that have the object before or after it, and its author")
    func concerned() throws {
        var fanout = FileFanout(from: .zero)
        for age in 1...50 as ClosedRange<UInt64> {
            let isBehind = fanout.attach(
                Self.session(age),
                try Self.view("age == \(age)"),
                at: .zero
            )
            #expect(!isBehind)
        }
        #expect(
            fanout.note(try Self.growth(to: 1, ages: 7, 9, by: 20)).map(\.rawValue) == [7, 9, 20]
        )
        #expect(fanout.note(try Self.growth(to: 2, ages: 77)).isEmpty)
        // Those that were told scan from there, the others need not.
        #expect(fanout.start(of: Self.session(7), from: .zero) == .zero)
        #expect(fanout.start(of: Self.session(8), from: .zero) == version(2))
        fanout.scanned(Self.session(7), upTo: version(1))
        #expect(fanout.start(of: Self.session(7), from: version(1)) == version(2))
    }

    @Test("A session scans from its first change that it has not scanned")
    func firstHit() throws {
        var fanout = FileFanout(from: .zero)
        _ = fanout.attach(Self.session(5), try Self.view("age == 5"), at: .zero)
        for number in 1...9 as ClosedRange<UInt64> {
            _ = fanout.note(try Self.growth(to: number, ages: number % 3 == 0 ? 5 : 6))
        }
        #expect(fanout.start(of: Self.session(5), from: .zero) == version(2))
        fanout.scanned(Self.session(5), upTo: version(4))
        #expect(fanout.start(of: Self.session(5), from: version(4)) == version(4))
        fanout.scanned(Self.session(5), upTo: version(9))
        #expect(fanout.start(of: Self.session(5), from: version(9)) == version(9))
        _ = fanout.note(try Self.growth(to: 10, ages: 6))
        #expect(fanout.start(of: Self.session(5), from: version(9)) == version(10))
    }

    @Test("A session with an older position, or with another view, scans what was examined before")
    func behind() throws {
        var fanout = FileFanout(from: .zero)
        _ = fanout.attach(Self.session(1), try Self.view("age == 1"), at: .zero)
        _ = fanout.note(try Self.growth(to: 4, ages: 2))
        let joinsBehind = fanout.attach(Self.session(2), try Self.view("age == 2"), at: version(3))
        #expect(joinsBehind)
        #expect(fanout.start(of: Self.session(2), from: version(3)) == version(3))
        let changesBehind = fanout.attach(
            Self.session(1),
            try Self.view("age == 2"),
            at: version(3)
        )
        #expect(changesBehind)
        #expect(fanout.start(of: Self.session(1), from: version(3)) == version(3))
        #expect(fanout.note(try Self.growth(to: 5, ages: 1)).isEmpty)
        #expect(fanout.note(try Self.growth(to: 6, ages: 2)).map(\.rawValue) == [1, 2])
    }

    @Test("A change for all, or too much growth, tells all sessions but detached ones")
    func anything() throws {
        var fanout = FileFanout(from: .zero)
        _ = fanout.attach(Self.session(1), try Self.view("age == 1"), at: .zero)
        _ = fanout.attach(Self.session(2), .empty, at: .zero)
        _ = fanout.attach(Self.session(3), .empty, at: .zero)
        fanout.detach(Self.session(3))
        #expect(
            fanout.note(FileGrowth(end: version(1), content: .anything)).map(\.rawValue) == [1, 2]
        )
        fanout.detach(Self.session(1))
        #expect(fanout.note(try Self.growth(to: 2, ages: 1)).isEmpty)
        fanout.detach(Self.session(2))
        #expect(fanout.isEmpty)
    }

    @Test("A session that nothing concerns is told after a number of versions, or twice as many")
    func untold() throws {
        var fanout = FileFanout(from: .zero)
        _ = fanout.attach(Self.session(1), try Self.view("age == 1"), at: .zero)
        _ = fanout.attach(Self.session(2), try Self.view("age == 2"), at: .zero)
        let limit = FileFanout.untoldLimits.lowerBound
        #expect(fanout.note(try Self.growth(to: 400, ages: 2)).map(\.rawValue) == [2])
        #expect(fanout.note(try Self.growth(to: limit - 1, ages: 0)).isEmpty)
        #expect(fanout.note(try Self.growth(to: limit, ages: 0)).map(\.rawValue) == [1])
        #expect(fanout.start(of: Self.session(1), from: .zero) == version(limit))
        #expect(fanout.note(try Self.growth(to: limit + 399, ages: 0)).isEmpty)
        #expect(fanout.note(try Self.growth(to: 2 * limit, ages: 0)).map(\.rawValue) == [1, 2])
        #expect(fanout.note(try Self.growth(to: 3 * limit - 1, ages: 1)).map(\.rawValue) == [1])
        #expect(fanout.note(try Self.growth(to: 3 * limit, ages: 0)).map(\.rawValue) == [2])
    }

    @Test("Among many sessions a write tells less than one of those that it does not concern")
    func manySessions() throws {
        var fanout = FileFanout(from: .zero)
        for client in 1...2_000 as ClosedRange<UInt64> {
            _ = fanout.attach(Self.session(client), try Self.view("age == 1"), at: version(client))
        }
        var told = 0
        for number in 2_001...70_000 as ClosedRange<UInt64> {
            told += fanout.note(try Self.growth(to: number, ages: 0, by: 9_999)).count
        }
        #expect(told >= 2_000)
        #expect(told < 70_000 / 10)
    }

    @Test(
        "A client that lost its session scans from its own position, not from that of the session"
    )
    func takeover() throws {
        var fanout = FileFanout(from: .zero)
        let (old, new) = (Self.session(1), Self.session(1, epoch: 2))
        _ = fanout.attach(old, try Self.view("age == 1"), at: .zero)
        _ = fanout.note(try Self.growth(to: 4, ages: 1))
        fanout.scanned(old, upTo: version(4))
        // Before it has a view of its own.
        #expect(fanout.start(of: new, from: version(2)) == version(2))
        let isBehind = fanout.attach(new, try Self.view("age == 2"), at: version(2))
        #expect(isBehind)
        // What the old connection still does has no effect.
        fanout.scanned(old, upTo: version(4))
        let isOldBehind = fanout.attach(old, try Self.view("age == 1"), at: version(2))
        #expect(!isOldBehind)
        fanout.detach(old)
        #expect(fanout.start(of: new, from: version(2)) == version(2))
        #expect(fanout.note(try Self.growth(to: 5, ages: 2)).map(\.rawValue) == [1])
        fanout.detach(new)
        #expect(fanout.isEmpty)
    }

    @Test("Sessions that come and go leave nothing behind")
    func reconnects() throws {
        var fanout = FileFanout(from: .zero)
        _ = fanout.attach(Self.session(1), try Self.view("age == 1"), at: .zero)
        for _ in 0..<1_000 {
            _ = fanout.attach(Self.session(2), try Self.view("age == 2"), at: .zero)
            fanout.detach(Self.session(2))
        }
        #expect(fanout.watchCount < 100)
        let limit = FileFanout.untoldLimits.lowerBound
        #expect(fanout.note(try Self.growth(to: limit, ages: 0)).map(\.rawValue) == [1])
        #expect(fanout.watchCount == 1)
    }
}
