import Changesets
import Documents
import LocalRealm
import Schemas
import TestSupport
import Testing

@Suite("A realm file applies instructions as the realm in memory does")
struct ApplyEquivalenceTests {
    @Test("One at a time, with the same values, no-ops and errors")
    func instructions() throws {
        var refusals: Set<String> = []
        var taken: [InstructionCode: Int] = [:]
        for seed in Seeds.some(8) {
            let twins = try Twins(SampleSchema.everything)
            var generator = RandomInstructions(seed: seed, SampleSchema.everything)
            for step in 0..<400 {
                let changeset = generator.changeset(on: twins.model, count: 1)
                if let refusal = try twins.receive([changeset]) {
                    refusals.insert(Self.name(of: refusal.problem))
                } else {
                    taken[changeset.instructions[0].code, default: 0] += 1
                }
                if step % 50 == 49 { try twins.compare("seed \(seed), step \(step)") }
            }
        }
        // A value that is never drawn is never compared.
        guard Seeds.some(8).count >= 8 else { return }
        let untaken = InstructionCode.allCases.filter {
            !Self.schemaCodes.contains($0) && taken[$0, default: 0] == 0
        }
        #expect(untaken == [])
        let missing = Self.problems.subtracting(refusals)
        #expect(missing == [])
    }

    /// Every possible error of an object instruction, except sizes beyond the limits of the format
    /// and excessive nesting.
    private static let problems: Set<String> = [
        "unknownClass", "unknownProperty", "primaryKeyChange", "embeddedClass", "wrongKeyType",
        "missingObject", "indexOutOfRange", "wrongPayload", "wrongLinkTarget",
        "wrongCollectionType", "wrongPriorSize",
        "\(BadInstruction.Problem.expectedIndex)", "\(BadInstruction.Problem.expectedKey)",
        "\(BadInstruction.Problem.missingKey)", "\(BadInstruction.Problem.illegalKey)",
        "\(BadInstruction.Problem.deadEnd)", "\(BadInstruction.Problem.wrongTarget)",
        "\(BadInstruction.Problem.nullNotAllowed)", "\(BadInstruction.Problem.notAnInteger)",
        "\(BadInstruction.Problem.moveToSamePlace)",
    ]

    @Test("In batches of several changesets, of which only the result is written")
    func batches() throws {
        for seed in Seeds.some(6) {
            let twins = try Twins(SampleSchema.everything)
            var generator = RandomInstructions(seed: 1000 + seed, SampleSchema.everything)
            for step in 0..<60 {
                var model = twins.model
                let changesets = (0..<Int.random(in: 1...4, using: &generator.random)).map { _ in
                    let count = Int.random(in: 1...8, using: &generator.random)
                    let changeset = Self.fitting(
                        generator.changeset(on: model, count: count),
                        &model,
                        // Now and then an error stays in.
                        keepsMistakes: Int.random(in: 0..<12, using: &generator.random) == 0
                    )
                    return changeset
                }
                _ = try twins.receive(changesets)
                if step % 6 == 5 { try twins.compare("seed \(seed), step \(step)") }
            }
        }
    }

    @Test("Transactions as applications make them, with new classes and properties among them")
    func transactions() throws {
        for seed in Seeds.some(15) {
            var random = SplitMix64(seed: seed)
            let twins = try Twins(base: RandomTransactions.baseChangeset)
            var transactions = RandomTransactions(seed: seed, peer: 0, settled: twins.model)
            for step in 0..<25 {
                var model = twins.model
                let changesets = try (0..<Int.random(in: 1...3, using: &random)).map { _ in
                    let (changeset, result) = try transactions.transaction(on: model)
                    model = result
                    return changeset
                }
                #expect(try twins.receive(changesets) == nil, "seed \(seed), step \(step)")
                if step % 5 == 4 { try twins.compare("seed \(seed), step \(step)") }
            }
        }
    }

    private static let schemaCodes: Set<InstructionCode> = [
        .addTable, .eraseTable, .addColumn, .eraseColumn,
    ]

    private static func name(of problem: BadInstruction.Problem) -> String {
        Mirror(reflecting: problem).children.first?.label ?? "\(problem)"
    }

    /// The instructions that fit, one after the other.
    private static func fitting(
        _ changeset: Changeset,
        _ model: inout InMemoryRealm,
        keepsMistakes: Bool
    ) -> Changeset {
        let instructions = changeset.instructions.filter { instruction in
            let one = Changeset(strings: changeset.strings, instructions: [instruction])
            do {
                try model.apply(one)
                return true
            } catch {
                return keepsMistakes
            }
        }
        return Changeset(strings: changeset.strings, instructions: instructions)
    }
}
