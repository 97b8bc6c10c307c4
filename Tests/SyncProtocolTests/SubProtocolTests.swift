import SyncProtocol
import Testing

@Suite("Negotiation of the sub-protocol")
struct SubProtocolTests {
    static let name = "com.mongodb.realm-sync"
    static let flexibleName = "com.mongodb.realm-query-sync"

    @Test(
        "The highest common version is chosen from lists, ranges and both",
        arguments: [
            (["\(name)#14, \(name)#13, \(name)#2"], "\(name)#14"),
            (["\(name)#9,\(name)#8"], "\(name)#9"),
            (["\(name)#2-10"], "\(name)#10"),
            (["\(name)#2-1000000"], "\(name)#14"),
            (["\(name)#2-5, \(name)#9, other#1"], "\(name)#9"),
            (["other", "\(name)#5", "\(name)#7"], "\(name)#7"),
            (["\(name)/7"], "\(name)/7"), (["\(name)/2-7"], "\(name)/7"),
            (["\(name)/5, \(name)#8"], "\(name)#8"), (["\(name)/9"], "\(name)#9"),
            (["\(flexibleName)#14, \(flexibleName)#13"], "\(flexibleName)#14"),
            (["  \(name)#14  "], "\(name)#14"),
            (["com.mongodb.realm-sync-extra#3, \(name)#6"], "\(name)#6"),
        ]
    )
    func choice(offers: [String], token: String) throws {
        #expect(try SubProtocol(choosingFrom: offers).token == token)
    }

    @Test(
        "Malformed known tokens, and offers with nothing usable, are refused",
        arguments: [
            ("\(name)#", SubProtocolError.malformedOffer("\(name)#")),
            ("\(name)#x", .malformedOffer("\(name)#x")),
            ("\(name)#-3", .malformedOffer("\(name)#-3")),
            ("\(name)#+3", .malformedOffer("\(name)#+3")),
            ("\(name)#9-3", .malformedOffer("\(name)#9-3")),
            ("\(name)#3-", .malformedOffer("\(name)#3-")),
            ("\(name)#1-2-3", .malformedOffer("\(name)#1-2-3")),
            ("\(name)#99999999999999999999", .malformedOffer("\(name)#99999999999999999999")),
            ("\(name)#14, \(name)#x", .malformedOffer("\(name)#x")),
            ("", .nothingOffered), ("other", .nothingOffered), (",,", .nothingOffered),
            (name, .nothingOffered),
            ("\(name)#15", .noCommonVersion(4...14)), ("\(name)#1-3", .noCommonVersion(4...14)),
        ]
    )
    func refusal(offer: String, expected: SubProtocolError) {
        #expect(throws: expected) { try SubProtocol(choosingFrom: [offer]) }
    }

    @Test("Our client offers every version from 14 down to 2")
    func offer() {
        let versions = stride(from: 14, through: 2, by: -1)
        let expected = versions.map { "com.mongodb.realm-sync#\($0)" }.joined(separator: ", ")
        #expect(SubProtocol.offer(for: .partitionBased) == expected)
    }

    @Test("Our client accepts one token of its mode in its range, and nothing else")
    func answer() throws {
        for version in 2...14 {
            let answer = try SubProtocol(answer: "\(Self.name)#\(version)", for: .partitionBased)
            #expect(answer == SubProtocol(mode: .partitionBased, version: version))
        }
        let bad = [
            "", Self.name, "\(Self.name)#", "\(Self.name)#1", "\(Self.name)#15", "\(Self.name)#14 ",
            "\(Self.name)#14x", "\(Self.name)#2-14", "\(Self.name)#14, \(Self.name)#13",
            "\(Self.flexibleName)#14", "x\(Self.name)#14", "\(Self.name)#-2",
        ]
        for answer in bad {
            #expect(throws: SubProtocolError.unexpectedAnswer(answer)) {
                try SubProtocol(answer: answer, for: .partitionBased)
            }
        }
        #expect(throws: SubProtocolError.missingAnswer) {
            try SubProtocol(answer: nil, for: .partitionBased)
        }
    }
}
