import Changesets
import Documents
import FoundationEssentials
import Schemas
import TestSupport
import Testing

/// Every input of programs and peers gives a result. `REALM_SEEDS` lengthens the runs.
@Suite("Damaged values and random instructions")
struct DocumentsFuzzTests {
    private static let rounds =
        ProcessInfo.processInfo.environment["REALM_SEEDS"].flatMap(Int.init) ?? 300

    private static let schema = SampleSchema.everything
    private static let form = JSONForm(schema: schema)

    private func everything() throws -> ClassSchema {
        try #require(Self.schema["Everything"])
    }

    @Test("A damaged document is refused, or reads as one whose JSON reads back")
    func damagedDocuments() throws {
        let owner = try #require(Self.schema["Part"])
        let values = RandomValues(schema: Self.schema)
        for seed in 0..<UInt64(Self.rounds) {
            var random = SplitMix64(seed: seed)
            let document = values.document(of: owner, using: &random)
            var json = Self.form.encode(document, key: .null, of: owner)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let position = Int.random(in: 0..<json.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: json[position] = UInt8.random(in: 0...255, using: &random)
                case 1: json.remove(at: position)
                default:
                    let sample = Array(#"{}[]",:\0-1.e$ntu"#.utf8)
                    json.insert(sample.randomElement(using: &random) ?? 0, at: position)
                }
            }
            guard let damaged = try? Self.form.decodeDocument(json, of: owner) else { continue }
            let again = Self.form.encode(damaged, key: .null, of: owner)
            #expect(try Self.form.decodeDocument(again, of: owner) == damaged, "seed \(seed)")
        }
    }

    @Test("Any column in any property is refused, or reads as a value whose column reads back")
    func strangeColumns() throws {
        let columns: [ColumnValue] = [
            .null, .integer(0), .integer(1), .integer(.min), .real(0), .real(-1.5),
            .real(.infinity), .text(""), .text("x"), .text("NaN"), .text("1.5"), .text("null"),
            .text("5"), .text("[]"), .text("[1,1]"), .text("{}"), .text(#"{"a":1}"#),
            .text(#"{"count":2}"#), .text(#""x""#), .text([0xff]), .text("2026-03-04"),
            .text("5f63e882536de46d71877979"), .text("3b241101-e2bb-4255-8caf-4136c566a962"),
            .blob([]), .blob([0]),
        ]
        for property in try everything().properties {
            for column in columns {
                let value = try? ColumnForm.decode(column, of: property, in: Self.schema)
                guard let value else { continue }
                let written = ColumnForm.encode(value, of: property, in: Self.schema)
                #expect(
                    try ColumnForm.decode(written, of: property, in: Self.schema) == value,
                    "\(property.name), \(column)"
                )
            }
        }
    }

    @Test("Random instructions fit or are refused, and leave a document whose JSON reads back")
    func randomInstructions() throws {
        let owner = try everything()
        let fields: [Text] = [
            "int", "any", "anyList", "anyDictionary", "anySet", "part", "partList",
            "partDictionary", "intOptionalList", "doubleSet", "target", "targetList",
        ]
        var applied = 0
        for seed in 0..<UInt64(Self.rounds / 10) {
            var random = SplitMix64(seed: seed)
            var fixture = try Fixture()
            for _ in 0..<300 {
                let field = fields.randomElement(using: &random) ?? "int"
                let instruction = randomInstruction(field, &fixture, &random)
                if (try? fixture.perform(instruction)) != nil { applied += 1 }
            }
            let document = try #require(fixture.realm.document(for: Fixture.object))
            let json = Self.form.encode(document, key: .int(1), of: owner)
            #expect(try Self.form.decodeDocument(json, of: owner) == document, "seed \(seed)")
        }
        #expect(applied > Self.rounds, "most instructions do not fit, but some must")
    }

    private func randomInstruction(
        _ field: Text,
        _ fixture: inout Fixture,
        _ random: inout SplitMix64
    ) -> Instruction {
        var path: [Fixture.Step] = []
        for _ in 0..<([0, 0, 1, 1, 2].randomElement(using: &random) ?? 0) {
            let key = ["k", "count", "any", "parts"].randomElement(using: &random) ?? "k"
            path.append(
                Bool.random(using: &random)
                    ? .index(UInt32.random(in: 0...1, using: &random)) : .key(Text(key))
            )
        }
        let target = fixture.target(field, path)
        let size = UInt32.random(in: 0...2, using: &random)
        let payload = randomPayload(&fixture, &random)
        switch Int.random(in: 0..<12, using: &random) {
        case 0: return .addInteger(target, amount: 1)
        case 1: return .arrayErase(target, priorSize: size)
        case 2: return .arrayMove(target, to: 0, priorSize: size)
        case 3:
            let types: [CollectionType] = [.single, .list, .set, .dictionary]
            return .clear(target, types.randomElement(using: &random) ?? .list)
        case 4: return .setInsert(target, payload)
        case 5: return .setErase(.init(target: target, payload: payload))
        case 6: return .arrayInsert(target, payload, priorSize: size)
        default:
            return .update(
                .init(
                    target: target,
                    payload: payload,
                    detail: target.index == nil ? .isDefault(false) : .priorSize(size)
                )
            )
        }
    }

    private func randomPayload(_ fixture: inout Fixture, _ random: inout SplitMix64) -> Payload {
        let payloads: [Payload] = [
            .null, .int(1), .bool(true), .string("s"), .string(Text(bytes: [0xff, 0])),
            .binary([1]), .timestamp(.epoch), .float(FloatBits(-0.0)),
            .double(DoubleBits(bitPattern: 0xfff0_0000_0000_0001)), .decimal(.zero),
            .decimal(.referenceNull), .objectID(.zero), .uuid(.zero), .objectValue, .list,
            .dictionary, .set, .erased, fixture.link("Target", .null),
            fixture.link("Other", .uuid(.zero)), fixture.link("Part", .null),
        ]
        return payloads.randomElement(using: &random) ?? .null
    }
}
