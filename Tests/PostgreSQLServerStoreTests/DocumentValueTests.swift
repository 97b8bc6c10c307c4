import Changesets
import FoundationEssentials
import PostgreSQL
import PostgreSQLFixtures
import ServerFixtures
import ServerStore
import TestSupport
import Testing

@testable import PostgreSQLServerStore

/// Documents as jsonb: no value changes (P7).
@Suite(
    "Store on PostgreSQL: values of documents",
    .timeLimit(.minutes(5)),
    .enabled(
        if: PostgreSQLInstallation.isRequiredOrPresent,
        "\(PostgreSQLInstallation.absence)"
    )
)
struct DocumentValueTests {
    private struct Record: Codable, Equatable {
        let doubles: [Double]
        let integers: [Int64]
        let texts: [String]

        /// Doubles of any bits that are numbers, integers, and texts of any characters but U+0000.
        init(using random: inout SplitMix64) {
            doubles = (0..<100).map { _ in
                while true {
                    let value = Double(bitPattern: UInt64.random(in: 0 ... .max, using: &random))
                    if value.isFinite, value != 0 { return value }
                }
            }
            integers = (0..<20).map { _ in Int64.random(in: .min ... .max, using: &random) }
            texts = (0..<20).map { _ in
                String(
                    String.UnicodeScalarView(
                        (0..<10).compactMap { _ in
                            Unicode.Scalar(UInt32.random(in: 1...0x10ffff, using: &random))
                        }
                    )
                )
            }
        }
    }

    @Test("100 000 random doubles, and integers and texts, return by their bits")
    func random() async throws {
        let world = try StoreWorld()
        let store = try await world.store()
        let file = try await world.file(store)
        var random = SplitMix64(seed: 5)
        let records = (0..<1000).map { _ in Record(using: &random) }
        try await store.write(.file(file)) { transaction in
            let encoder = JSONEncoder()
            for (number, record) in records.enumerated() {
                try transaction.putDocument(
                    Array(try encoder.encode(record)),
                    of: StoreWorld.object(Int64(number)),
                    in: file
                )
            }
        }
        let found = try await store.read { snapshot in
            var documents: [(ObjectKey, [UInt8])] = []
            try snapshot.forEachDocument(of: "Task", in: file) {
                key,
                json throws(StoreError) in
                documents.append((key, json))
                return .next
            }
            return documents
        }
        #expect(found.count == 1000)
        for (key, json) in found {
            guard case .int(let number) = key else { continue }
            let record = try JSONDecoder().decode(Record.self, from: Data(json))
            let expected = records[Int(number)]
            #expect(
                record.doubles.map(\.bitPattern) == expected.doubles.map(\.bitPattern)
                    && record.integers == expected.integers && record.texts == expected.texts
            )
        }
    }
}
