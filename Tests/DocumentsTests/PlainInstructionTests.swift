import Changesets
import Documents
import Schemas
import TestSupport
import Testing

/// Plain instructions are applied in one pass; after one that did not fit, one by one.
/// `REALM_SEEDS` lengthens the run.
@Suite("Plain instructions against the general way")
struct PlainInstructionTests {
    private static let schema = SampleSchema.everything
    private static let other = ObjectReference(className: "Everything", key: .int(-1))

    private static let properties: [Text] = [
        "int", "intOptional", "bool", "string", "binary", "timestamp", "float", "double", "decimal",
        "objectID", "uuid", "any",
    ]

    @Test("Both ways give the same objects, misfits and errors, also if few objects are held")
    func sameResult() throws {
        for seed in Seeds.some(100) {
            var random = SplitMix64(seed: seed)
            var writer = ChangesetWriter()
            write(&writer, using: &random)
            let plain = try result(of: writer.bytes, isUnclear: false)
            let general = try result(of: writer.bytes, isUnclear: true)
            #expect(plain == general, "seed \(seed)")
            let early = try result(of: writer.bytes, isUnclear: false, heldObjects: 2)
            #expect(early == general, "seed \(seed)")
        }
    }

    private struct Outcome: Equatable {
        var documents: [Document?] = []
        var misfits: [Admission.Misfit] = []
        var isRefused = false
    }

    private func objects(of seed: Range<Int64> = 0..<6) -> [ObjectReference] {
        seed.map { ObjectReference(className: "Everything", key: .int($0)) }
    }

    private func result(
        of bytes: [UInt8],
        isUnclear: Bool,
        heldObjects: Int = .max
    ) throws -> Outcome {
        var realm = InMemoryRealm(schema: Self.schema)
        try realm.apply([Changeset(decoding: Self.first)])
        // Those that were written early exist.
        var applier = Applier<InMemoryRealm>(
            expectsNewObjects: heldObjects == .max,
            heldObjects: heldObjects
        )
        var admission = Admission()
        var before = ChangesetWriter()
        if isUnclear {
            // The list is empty.
            before.arrayErase(Self.other, "intList", path: [.index(0)], priorSize: 1)
        } else {
            before.update(Self.other, "int", to: .scalar(.int(1)))
        }
        _ = try applier.admit(Changeset(decoding: before.bytes), to: &realm, &admission)
        #expect(admission.misfits.count == (isUnclear ? 1 : 0))
        var outcome = Outcome()
        do {
            _ = try applier.admit(Changeset(decoding: bytes), to: &realm, &admission)
            try applier.finish(&realm)
        } catch {
            outcome.isRefused = true
        }
        if !outcome.isRefused {
            outcome.documents = objects().map { realm.document(for: $0) }
        }
        outcome.misfits = admission.misfits.filter { $0.object != Self.other }
        return outcome
    }

    /// An object beside those that are written.
    private static var first: [UInt8] {
        var writer = ChangesetWriter()
        writer.createObject(other)
        return writer.bytes
    }

    private func write(_ writer: inout ChangesetWriter, using random: inout SplitMix64) {
        let values = RandomValues(schema: Self.schema)
        for _ in 0..<60 {
            guard let object = objects().randomElement(using: &random),
                let field = Self.properties.randomElement(using: &random),
                let property = Self.schema["Everything"]?.property(named: field)
            else { return }
            switch Int.random(in: 0..<20, using: &random) {
            case 0...3: writer.createObject(object)
            case 4: writer.eraseObject(object)
            case 5: writer.addInteger(object, "int", amount: 3)
            // Rarely a value of another type, which refuses the changeset.
            case 6 where Int.random(in: 0..<40, using: &random) == 0:
                writer.update(object, field, to: .scalar(.link(object)))
            default:
                if case .scalar(let scalar) = values.value(of: property, using: &random) {
                    writer.update(object, field, to: .scalar(scalar))
                }
            }
        }
    }
}
