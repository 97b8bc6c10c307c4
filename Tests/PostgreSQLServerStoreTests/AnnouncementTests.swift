import PostgreSQL
import PostgreSQLFixtures
import PostgreSQLServerStore
import TestSupport
import Testing
import Versions

@Suite("Announcements")
struct AnnouncementTests {
    private let samples: [(Announcement, String)] = [
        (.grown([.init(file: 7, version: ServerVersion(12))]), "g7,12"),
        (
            .grown([
                .init(file: 1, version: ServerVersion(2)),
                .init(file: .max, version: ServerVersion(UInt64(Int64.max))),
            ]), "g1,2;9223372036854775807,9223372036854775807"
        ),
        (.takenOver(file: 3, ident: FileIdent(4), epoch: 5), "t3,4,5"),
        (.controlled(epoch: 9), "c9"),
    ]

    @Test("Each has a text, which is read again")
    func texts() {
        for (announcement, text) in samples {
            #expect(announcement.payload == text)
            #expect(Announcement(payload: text) == announcement)
        }
    }

    @Test("Texts of other programs and versions are ignored")
    func otherTexts() {
        let texts = [
            "", "g", "g1", "g1,2;", "g;1,2", "g1,2,3", "g1,x", "g-1,2", "g1,-2", "gg1,2", "t1,2",
            "t1,2,3,4", "t1,2,", "c", "c-1", "c1,2", "x1,2", "g1,9223372036854775808", "G1,2",
            "g 1,2", "t1,-2,3",
        ]
        for text in texts { #expect(Announcement(payload: text) == nil, "\(text)") }
    }

    @Test("Random texts give an announcement with the same text, or none")
    func randomTexts() {
        var found = 0
        for seed in UInt64(0)..<20_000 {
            var random = SplitMix64(seed: seed)
            let letters = Array("gtc0129,;-")
            let text = String(
                (0..<Int.random(in: 0...8, using: &random)).map { _ in
                    letters[Int.random(in: 0..<letters.count, using: &random)]
                }
            )
            guard let announcement = Announcement(payload: text) else { continue }
            found += 1
            #expect(Announcement(payload: announcement.payload) == announcement)
        }
        #expect(found > 100)
    }
}

@Suite("The outbox of growth")
struct GrowthOutboxTests {
    private func growth(_ file: Int64, _ version: UInt64) -> Announcement.Growth {
        .init(file: file, version: ServerVersion(version))
    }

    @Test("It holds the newest version of each file, in order of the first growth")
    func newest() {
        var outbox = GrowthOutbox()
        #expect(outbox.isEmpty)
        #expect(outbox.append(growth(2, 5)) == true)
        #expect(outbox.append(growth(1, 1)) == false)
        #expect(outbox.append(growth(2, 7)) == false)
        // Threads may arrive in another order than their commits.
        #expect(outbox.append(growth(2, 6)) == false)
        #expect(outbox.takePayloads() == ["g2,7;1,1"])
        #expect(outbox.isEmpty)
        #expect(outbox.takePayloads() == [])
        #expect(outbox.append(growth(2, 8)) == true)
    }

    @Test("Payloads stay below the limit, and together say all", arguments: [1, 2, 200, 5000])
    func sizes(count: Int) throws {
        var random = SplitMix64(seed: UInt64(count))
        var outbox = GrowthOutbox()
        var expected: [Announcement.Growth] = []
        for file in 0..<count {
            let growth = growth(
                Int64(file) + (1 << 40),
                UInt64.random(in: 1...UInt64(Int64.max), using: &random)
            )
            expected.append(growth)
            _ = outbox.append(growth)
        }
        let payloads = outbox.takePayloads()
        var announced: [Announcement.Growth] = []
        for payload in payloads {
            #expect(payload.utf8.count <= GrowthOutbox.payloadLimitInBytes)
            guard case .grown(let growths) = try #require(Announcement(payload: payload)) else {
                Issue.record("not a growth")
                return
            }
            announced += growths
        }
        #expect(announced == expected)
        #expect(payloads.count <= 1 + count / 200)
    }

    @Test(
        "PostgreSQL carries the longest payload",
        .enabled(
            if: PostgreSQLInstallation.isRequiredOrPresent,
            "\(PostgreSQLInstallation.absence)"
        )
    )
    func notify() throws {
        let database = try TestDatabase()
        let (listener, sender) = (try database.connect(), try database.connect())
        try listener.execute("LISTEN realm")
        var outbox = GrowthOutbox()
        for file in 0..<1000 { _ = outbox.append(growth(Int64(file) + (1 << 40), 77)) }
        let payloads = outbox.takePayloads()
        #expect(payloads[0].utf8.count > 7_800)
        try sender.pipeline(
            payloads.map { Step("SELECT pg_notify('realm', $1)", [.string($0)]) }
        )
        var heard: [String] = []
        while heard.count < payloads.count {
            let more = try listener.notifications(until: .after(.seconds(60)))
            try #require(!more.isEmpty)
            heard += more.map(\.payload)
        }
        #expect(heard == payloads)
    }
}
