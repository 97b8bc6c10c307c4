import Changesets
import Documents
import SQLite
import Schemas
import TestSupport
import Testing
import Versions

@testable import LocalRealm

/// The recorded merges of the reference engine, through the tables of a realm file: local changesets in
/// the history, the others as a download.
@Suite(
    "Transform vectors, integrated into a realm file",
    .enabled(if: Vectors.areRequiredOrPresent, "the golden vectors are not here")
)
struct IntegrationVectorTests {
    @Test("End in the recorded state and leave the recorded reciprocals, or are refused")
    func merges() throws {
        let files = try Vectors.files(in: "transform")
            .filter { $0 != "transform/bases.jsonl" }
        let bases = try Self.bases()
        var checked = 0
        for file in files {
            let lines = try Vectors.nodes(of: file)
            // All of them with enough REALM_SEEDS.
            let step = max(1, lines.count / Seeds.some(600).count)
            for position in stride(from: 0, to: lines.count, by: step) {
                let line = lines[position]
                let base = try #require(bases[line["base"]?.string ?? ""])
                try check(line, base)
                checked += 1
            }
        }
        print("transform vectors: \(checked) merges integrated into realm files")
        #expect(checked > 0)
    }

    private func check(_ line: JSONNode, _ base: RealmFixture) throws {
        let name: Comment = "\(line["name"]?.string ?? "?")"
        let outcome: MergedRealm
        do {
            outcome = try MergedRealm(line, base)
        } catch {
            let mayFail = line["error"]?.bool == true || line["apply_failed"]?.bool == true
            #expect(mayFail, "\(name): \(error)")
            return
        }
        #expect(line["error"]?.bool != true, name)
        let reciprocals = try #require(line["local_transformed"]?.elements).map {
            try #require($0["hex"]?.string)
        }
        #expect(outcome.reciprocals == reciprocals.filter { !$0.isEmpty }, name)
        guard let expected = line["state"] ?? line["state_local"] else { return }
        let state = VectorStateForm.state(of: outcome.realm)
        if state != expected.withoutComments.inVectorOrder {
            Issue.record("\(name):\n\(state.text)\n\(expected.text)")
        }
        #expect(outcome.backlinks == RealmContents.backlinks(outcome.realm), name)
    }

    /// A realm file for each base, with the base's changesets downloaded.
    private static func bases() throws -> [String: RealmFixture] {
        var bases: [String: RealmFixture] = [:]
        for line in try Vectors.nodes(of: "transform/bases.jsonl") {
            let name = try #require(line["name"]?.string)
            let fixture = try RealmFixture()
            let changesets = try #require(line["changesets"]?.elements).enumerated().map {
                RealmFixture.download(UInt64($0 + 1), try bytes($1))
            }
            try fixture.receive(upTo: UInt64(changesets.count), changesets)
            let stored = try InMemoryRealm(fixture.connect(), fixture.realm.schema)
            let state = VectorStateForm.state(of: stored)
            #expect(state == line["state"]?.withoutComments.inVectorOrder, "\(name)")
            bases[name] = fixture
        }
        return bases
    }

    fileprivate static func bytes(_ node: JSONNode?) throws -> [UInt8] {
        try #require((node?.string).flatMap(Hexadecimal.bytes(of:)))
    }
}

/// The content of a realm after its own changesets of a case and the download of the others; the
/// file itself is unchanged.
private struct MergedRealm {
    var realm = InMemoryRealm()
    /// The local changesets as the merge left them.
    var reciprocals: [String] = []
    var backlinks: Set<String> = []

    private struct RolledBack: Error {}

    init(_ line: JSONNode, _ base: RealmFixture) throws {
        let file = base.realm
        let local = try #require(line["local"]?.elements)
        let remote = try #require(line["remote"]?.elements)
        var draft = file.committed
        do {
            try file.connection.transaction {
                let before = draft.state.localVersion
                try Self.commit(local, file, &draft)
                try Self.integrate(remote, after: before, file, &draft)
                realm = try InMemoryRealm(file.connection, draft.catalogue.schema)
                backlinks = try RealmContents.backlinks(file.connection)
                reciprocals = try Self.history(file)
                throw RolledBack()
            }
        } catch {
            file.statements.removeAll()
            guard error is RolledBack else { throw error }
        }
    }

    /// Makes local commits of the changesets.
    private static func commit(
        _ steps: [JSONNode],
        _ file: RealmFile,
        _ draft: inout Draft
    ) throws {
        for step in steps {
            let (bytes, stamp, ident) = try read(step)
            draft.state.fileIdent = SaltedFileIdent(ident: FileIdent(ident), salt: Salt(1))
            guard !bytes.isEmpty else { continue }
            let editor = SchemaEditor(
                file.connection,
                draft.catalogue,
                options: [:],
                published: CatalogueStore.learned
            )
            var applier = ChangesetApplier(editor, file.statements)
            try applier.apply(Changeset(decoding: bytes), number: 0)
            try applier.finish()
            try draft.adopt(applier.editor)
            try History(connection: file.connection).append(
                draft.state.advanceVersion(),
                originTimestamp: OriginTimestamp(stamp),
                remoteVersion: draft.state.progress.download.serverVersion,
                changeset: bytes
            )
        }
    }

    private static func integrate(
        _ steps: [JSONNode],
        after base: ClientVersion,
        _ file: RealmFile,
        _ draft: inout Draft
    ) throws {
        let downloads = try steps.enumerated().map { index, step in
            let (bytes, stamp, ident) = try read(step)
            return RealmFixture.download(
                1000 + UInt64(index),
                after: base.rawValue,
                timestamp: stamp,
                from: ident,
                bytes
            )
        }
        let integration = Integration(
            connection: file.connection,
            statements: file.statements,
            options: [:],
            pairLimit: .max,
            path: .direct
        )
        _ = try integration.run(Integration.parse(downloads)[...], &draft)
    }

    private static func history(_ file: RealmFile) throws -> [String] {
        let rows = try file.connection.rows(
            """
            SELECT coalesce(reciprocal, changeset) FROM _realm_history
            WHERE size > 0 AND length(coalesce(reciprocal, changeset)) > 0 ORDER BY version
            """
        )
        return try rows.map { row in
            guard case .blob(let bytes) = row[0] else { return "" }
            // One that the merge did not change is stored unchanged, with the strings in any order.
            return Hexadecimal.text(of: try Changeset(decoding: bytes).encoded())
        }
    }

    private static func read(
        _ step: JSONNode
    ) throws -> (bytes: [UInt8], stamp: UInt64, ident: UInt64) {
        (
            try IntegrationVectorTests.bytes(step["hex"]),
            UInt64(try #require(step["timestamp"]?.integer)),
            UInt64(try #require(step["file_ident"]?.integer))
        )
    }
}
