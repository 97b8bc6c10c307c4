import Changesets
import Testing

@testable import SyncClient

@Suite("Changesets in the log")
struct ChangesetSummaryTests {
    @Test("Each class has a line with what happens to its objects")
    func summaries() {
        var strings = StringTable()
        let (item, shop, note) = (
            strings.intern("Item"), strings.intern("Shop"), strings.intern("note")
        )
        let first = Instruction.ObjectTarget(className: item, key: .int(7))
        let target = Instruction.PathTarget(object: first, field: note)
        let changeset = Changeset(
            strings: strings,
            instructions: [
                .addTable(.init(className: shop, kind: .embedded)),
                .createObject(first),
                .update(
                    .init(target: target, payload: .string("secret"), detail: .isDefault(false))
                ),
                .addInteger(target, amount: 3),
                .eraseObject(.init(className: item, key: .int(8))),
            ]
        )
        let summaries = ChangesetSummary.summaries(of: changeset)
        #expect(summaries.map(\.className) == ["Shop", "Item"])
        #expect(summaries[0].schemaChanges == 1)
        #expect(summaries[0].content == "")
        let objects = summaries[1]
        #expect([objects.created, objects.updated, objects.erased] == [1, 2, 1])
        #expect(objects.content.hasPrefix("createObject 7; update 7.note = "))
        #expect(objects.content.contains("secret"))
    }

    @Test("The content of a large changeset is cut")
    func longContent() {
        var strings = StringTable()
        let item = strings.intern("Item")
        let changeset = Changeset(
            strings: strings,
            instructions: (0..<10_000).map {
                .createObject(.init(className: item, key: .int($0)))
            }
        )
        let summary = ChangesetSummary.summaries(of: changeset).first
        #expect(summary?.created == 10_000)
        #expect((summary?.content.utf8.count ?? 0) < 2_048)
    }
}
