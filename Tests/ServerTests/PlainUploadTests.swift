import Changesets
import ServerFixtures
import TestSupport
import Testing
import Versions

@testable import ServerStore
@testable import SyncServer

/// Uploads of plain changesets are integrated from their bytes with the same result as decoded ones.
/// `REALM_SEEDS` lengthens the run.
@Suite("Plain uploads")
struct PlainUploadTests {
    @Test("Leave the documents, history and reports that decoded ones leave")
    func sameResult() async throws {
        for seed in Seeds.some(30) {
            let plain = try await result(of: seed, mayStayPlain: true)
            let decoded = try await result(of: seed, mayStayPlain: false)
            #expect(plain == decoded, "seed \(seed)")
        }
    }

    private struct Result: Equatable {
        var documents: [ObjectKey: String] = [:]
        var history: [[UInt8]] = []
        var reports: [Report] = []
    }

    private enum Report: Equatable {
        case integrated(ServerVersion, Int, [RejectedChangeset], Healing, pairs: Int)
        case refused(IntegrationRefusal)
    }

    /// Two clients upload, each sometimes without having seen the other's changes.
    private func result(of seed: UInt64, mayStayPlain: Bool) async throws -> Result {
        var random = SplitMix64(seed: seed)
        let world = try await ServerFileWorld()
        let clients = [try await world.client(), try await world.client()]
        let partitionKey: Text? = Bool.random(using: &random) ? "title" : nil
        var versions: [UInt64] = [1, 1]
        var bases: [UInt64] = [0, 0]
        var result = Result()
        var current: UInt64 = 0
        for round in 0..<12 {
            let index = Int.random(in: 0...1, using: &random)
            var changesets: [UploadChangeset] = []
            for number in 0..<Int.random(in: 1...4, using: &random) {
                bases[index] = UInt64.random(in: bases[index]...current, using: &random)
                versions[index] += 1
                let bytes = round + number == 0 ? Tasks.schema : Self.changeset(using: &random)
                let time = UInt64(round * 10 + number)
                changesets.append(upload(versions[index], on: bases[index], at: time, bytes))
            }
            do {
                let outcome = try await world.upload(
                    changesets,
                    by: clients[index],
                    partitionKey: partitionKey,
                    mayStayPlain: mayStayPlain
                )
                current = outcome.currentVersion.rawValue
                result.reports.append(
                    .integrated(
                        outcome.currentVersion,
                        outcome.integratedCount,
                        outcome.refused,
                        outcome.healing,
                        pairs: outcome.mergedPairs
                    )
                )
            } catch let refusal as IntegrationRefusal {
                result.reports.append(.refused(refusal))
            }
        }
        result.documents = try await world.tasks()
        let reader = try await world.client()
        result.history = try await world.scan(for: reader).changesets.map(\.bytes)
        return result
    }

    private static func changeset(using random: inout SplitMix64) -> [UInt8] {
        func id() -> Int64 { Int64.random(in: 0..<30, using: &random) }
        switch Int.random(in: 0..<20, using: &random) {
        case 0: return Tasks.erase(id())
        case 1: return Tasks.setTitle(id(), "set")
        case 2: return Tasks.count(id(), 2)
        case 3: return Tasks.appendTag(id(), "tag", at: 0)
        case 4: return Tasks.addColumn("note", .string)
        case 5 where Int.random(in: 0..<5, using: &random) == 0: return [0x7f]
        default: break
        }
        var writer = ChangesetWriter()
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let object = Tasks.object(id())
            writer.createObject(object)
            let title: Text = Bool.random(using: &random) ? "plain" : "es\"caped"
            if Bool.random(using: &random) {
                writer.update(object, "title", to: .scalar(.string(title)))
            }
            switch Int.random(in: 0..<30, using: &random) {
            case 0: writer.update(object, "count", to: .scalar(.string("no number")))
            case 1: writer.update(object, "note", to: .scalar(.string("perhaps unknown")))
            default: writer.update(object, "count", to: .scalar(.int(id())))
            }
        }
        // Its strings are ahead of all instructions.
        guard Bool.random(using: &random), let changeset = try? Changeset(decoding: writer.bytes)
        else { return writer.bytes }
        return changeset.encoded()
    }
}
