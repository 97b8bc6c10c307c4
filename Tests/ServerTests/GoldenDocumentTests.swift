import Changesets
import Documents
import PostgreSQLFixtures
import Schemas
import Scopes
import ServerFixtures
import TestSupport
import Testing

@testable import ServerStore

/// Objects of recorded states as documents of each store (server on PostgreSQL, 5).
@Suite(
    "Golden documents in stores",
    .serialized,
    .enabled(if: Vectors.areRequiredOrPresent, "the golden vectors are not there"),
    .timeLimit(.minutes(5))
)
struct GoldenDocumentTests {
    private func realms() throws -> [InMemoryRealm] {
        var bases: [String: InMemoryRealm] = [:]
        func apply(_ hexadecimal: JSONNode?, to realm: inout InMemoryRealm) throws {
            let bytes = Hexadecimal.bytes(of: try #require(hexadecimal?.string))
            try realm.apply(try Changeset(decoding: try #require(bytes)))
        }
        for line in try Vectors.nodes(of: "transform/bases.jsonl") {
            var realm = InMemoryRealm()
            for changeset in try #require(line["changesets"]?.elements) {
                try apply(changeset, to: &realm)
            }
            bases[line["name"]?.string ?? ""] = realm
        }
        var realms = Array(bases.values)
        for line in try Vectors.nodes(of: "transform/hand.jsonl") {
            guard let second = line["remote_transformed"]?.elements,
                var realm = bases[line["base"]?.string ?? ""]
            else { continue }
            for step in try #require(line["local"]?.elements) + second {
                try apply(step["hex"], to: &realm)
            }
            realms.append(realm)
        }
        return realms
    }

    @Test(
        "They return equal byte for byte once they are written again",
        arguments: StoreKind.allCases
    )
    func roundTrip(kind: StoreKind) async throws {
        let realms = try realms()
        #expect(realms.count > 50)
        try await kind.withStore { store in
            var compared = 0
            for (number, realm) in realms.enumerated() {
                let partition = Partition.int(Int64(number))
                let form = JSONForm(schema: realm.schema)
                var written: [ObjectReference: [UInt8]] = [:]
                for owner in realm.schema.classes where !owner.isEmbedded {
                    for (key, document) in realm.objects[owner.name] ?? [:] {
                        let object = ObjectReference(className: owner.name, key: key)
                        written[object] = form.encode(document, key: key, of: owner)
                    }
                }
                let file = try await store.write(.partition(ServerFileWorld.app, partition)) {
                    [written] transaction in
                    let file = try transaction.makeFile(of: ServerFileWorld.app, partition).id
                    try transaction.putSchema(realm.schema, of: file)
                    for (object, json) in written {
                        try transaction.putDocument(json, of: object, in: file)
                    }
                    return file
                }
                for (object, json) in written {
                    let found = try await store.read { try $0.document(object, in: file) }
                    let owner = try #require(realm.schema[object.className])
                    let document = try form.decodeDocument(try #require(found), of: owner)
                    #expect(form.encode(document, key: object.key, of: owner) == json, "\(object)")
                    compared += 1
                }
            }
            print("golden documents, \(kind): \(compared)")
            #expect(compared > 100)
        }
    }
}
