import Changesets
import ClientReset
import Schemas
import Testing

@Suite("The partition's value in recovered objects")
struct PartitionValueTests {
    private let owner = ClassSchema(
        name: "Item",
        kind: .topLevel(PrimaryKeySchema(name: "_id", type: .int, isNullable: false)),
        properties: [
            PropertySchema(name: "site", type: .string, isNullable: true),
            PropertySchema(name: "number", type: .int, isNullable: false),
            PropertySchema(name: "sites", type: .string, isNullable: false, collection: .list),
        ]
    )

    @Test("Only a single property of the partition's type, or a mixed one, gets it")
    func places() {
        let text = Scalar.string("main")
        #expect(PartitionValue(property: "site", value: text).position(in: owner) == 0)
        #expect(PartitionValue(property: "number", value: .int(4)).position(in: owner) == 1)
        #expect(PartitionValue(property: "number", value: text).position(in: owner) == nil)
        #expect(PartitionValue(property: "sites", value: text).position(in: owner) == nil)
        #expect(PartitionValue(property: "other", value: text).position(in: owner) == nil)
        #expect(PartitionValue(property: "site", value: .null).position(in: owner) == nil)
    }
}
