import ServerFixtures
import ServerStore
import Testing
import Versions

@testable import ServerCluster

@Suite("What a process missed")
struct ControlReviewTests {
    private static let shop = AppID.named("shop-abcde")
    private static let office = AppID.named("office-fghij")
    private let user = AppMember(UserID("u"), of: shop)
    private let login = AppMember(SessionDigest(bytes: [1]), of: shop)
    private let client = ClientFileID(file: ServerFileID(7), ident: FileIdent(3))

    private var presence: ConnectionPresence {
        ConnectionPresence(
            counts: [Self.shop: ConnectionCounts(connections: 1, sessions: 1)],
            clients: [client: 9],
            users: [user],
            loginSessions: [login]
        )
    }

    private var records: ControlRecords {
        ControlRecords(
            apps: [
                Self.shop: .init(isEnabled: true, digest: "a"),
                Self.office: .init(isEnabled: true, digest: "b"),
            ],
            users: [user],
            loginSessions: [login],
            clients: [client: 9]
        )
    }

    @Test("Nothing changed, nothing to do")
    func unchanged() {
        var review = ControlReview()
        #expect(review.messages(for: presence, records) == [])
        #expect(review.messages(for: presence, records) == [])
    }

    @Test("Users, log-ins and client files: also before the first review")
    func members() {
        var records = records
        records.users = []
        records.loginSessions = []
        records.clients = [:]
        let leave = BackplaneMessage.control(
            .session(login.id, of: Self.shop),
            .leave(reason: "session revoked")
        )
        let rebind = BackplaneMessage.control(.client(client), .rebind)
        var review = ControlReview()
        #expect(
            review.messages(for: presence, records) == [
                .control(.user(user.id, of: Self.shop), .leave(reason: "user deleted")), leave,
                rebind,
            ]
        )
        records.disabledUsers = [user]
        records.clients = [client: 12]
        #expect(
            review.messages(for: presence, records) == [
                .control(.user(user.id, of: Self.shop), .leave(reason: "user disabled")), leave,
                .takeover(of: client, epoch: 12),
            ]
        )
    }

    @Test("An app's record: changed, paused, deleted, new")
    func apps() {
        var review = ControlReview()
        var records = records
        _ = review.messages(for: presence, records)
        records.apps[Self.shop]?.digest = "c"
        records.apps[Self.office]?.digest = "d"
        // Only the one with connections has an order.
        #expect(
            review.messages(for: presence, records) == [
                .changed(Self.office), .changed(Self.shop), .control(.app(Self.shop), .rebind),
            ]
        )
        records.apps[Self.shop] = .init(isEnabled: false, digest: "e")
        #expect(
            review.messages(for: presence, records) == [
                .changed(Self.shop), .control(.app(Self.shop), .pause),
            ]
        )
        // A connection that came in between has to leave, too.
        #expect(
            review.messages(for: presence, records) == [.control(.app(Self.shop), .pause)]
        )
        records.apps[Self.shop] = nil
        records.apps[.named("new-app")] = .init(isEnabled: true, digest: "f")
        #expect(
            review.messages(for: presence, records) == [
                .changed(.named("new-app")), .changed(Self.shop),
                .control(.app(Self.shop), .pause),
            ]
        )
    }

    @Test("An order that was heard is not repeated, the next one is")
    func heard() {
        var review = ControlReview()
        var records = records
        _ = review.messages(for: presence, records)
        review.note(.control(.app(Self.shop), .rebind))
        records.apps[Self.shop]?.digest = "c"
        #expect(review.messages(for: presence, records) == [.changed(Self.shop)])
        records.apps[Self.shop]?.digest = "d"
        #expect(
            review.messages(for: presence, records) == [
                .changed(Self.shop), .control(.app(Self.shop), .rebind),
            ]
        )
    }

    @Test("Versions: each growth once, files without sessions are forgotten")
    func versions() {
        let (one, two) = (ServerFileID(1), ServerFileID(2))
        var known = KnownVersions()
        let news = [5, 5, 4].map { known.grows(one, to: ServerVersion($0)) }
        #expect(news == [true, false, false])
        let found = known.compare([one: ServerVersion(5), two: ServerVersion(1)])
        #expect(found.map(\.file) == [two])
        let again = known.compare([two: ServerVersion(1)])
        #expect(again.isEmpty)
        let isNewAgain = known.grows(one, to: ServerVersion(5))
        #expect(isNewAgain)
        // A database that went back: its sessions must find out.
        let earlier = known.compare([one: ServerVersion(3)])
        #expect(earlier.map(\.version) == [ServerVersion(3)])
    }
}
