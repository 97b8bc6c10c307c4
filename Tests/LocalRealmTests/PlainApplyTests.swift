import Changesets
import Documents
import SQLite
import Schemas
import TestSupport
import Testing
import Versions

@testable import LocalRealm

/// Plain changesets go to the tables straight from their bytes; the other path is the oracle. `REALM_SEEDS`
/// lengthens the runs.
@Suite("Plain changesets are applied from their bytes as instruction by instruction")
struct PlainApplyTests {
    @Test("With the same rows, links and errors, among changesets of other kinds")
    func paths() throws {
        var plainCount = 0
        var refusals = 0
        for seed in Seeds.some(6) {
            let direct = try Side(.direct, SampleSchema.everything)
            let byInstruction = try Side(.byInstruction, SampleSchema.everything)
            var generator = RandomInstructions(seed: 500 + seed, SampleSchema.everything)
            for step in 0..<80 {
                var model = try byInstruction.contents()
                var changesets: [Changeset] = []
                // Otherwise soon all objects would exist.
                if Int.random(in: 0..<10, using: &generator.random) < 6 {
                    changesets.append(model.erasures)
                    try model.apply(changesets[0])
                }
                for _ in 0..<Int.random(in: 1...3, using: &generator.random) {
                    let changeset = generator.plainChangeset(on: model, count: 40)
                    changesets.append(changeset)
                    try? model.apply(changeset)
                }
                let bytes = changesets.map { $0.encoded() }.filter { !$0.isEmpty }
                plainCount += bytes.count { PlainChangeset($0) != nil }
                let refusal = try byInstruction.integrate(bytes)
                if refusal != nil { refusals += 1 }
                let comment: Comment = "seed \(seed), step \(step)"
                #expect(try direct.integrate(bytes) == refusal, comment)
                if step % 4 == 3 || refusal == nil {
                    #expect(try direct.contents() == byInstruction.contents(), comment)
                    #expect(try direct.backlinks() == byInstruction.backlinks(), comment)
                }
            }
        }
        #expect(plainCount > 100)
        #expect(refusals > 5)
    }

    @Test("With the same rows and reciprocals, among local changes that some of them meet")
    func merges() throws {
        var (plainCount, meetingCount) = (0, 0)
        for seed in Seeds.some(20) {
            var random = SplitMix64(seed: 900 + seed)
            let direct = try Side(.direct, DrainTests.schema)
            let byInstruction = try Side(.byInstruction, DrainTests.schema)
            for step in 0..<6 {
                let writes = Self.writes(using: &random)
                let changesets = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                    Self.changeset(using: &random)
                }
                plainCount += changesets.count { PlainChangeset($0) != nil }
                try direct.write(writes)
                try byInstruction.write(writes)
                let time: UInt64 = Bool.random(using: &random) ? 1 : 1 << 60
                let refusal = try byInstruction.integrate(changesets, time: time)
                let comment: Comment = "seed \(seed), step \(step)"
                #expect(try direct.integrate(changesets, time: time) == refusal, comment)
                #expect(try direct.contents() == byInstruction.contents(), comment)
                let history = try byInstruction.history()
                #expect(try direct.history() == history, comment)
                meetingCount += history.count { $0.hasSuffix("|1") }
            }
        }
        #expect(plainCount > 50)
        #expect(meetingCount > 50)
    }

    /// A program's statements on few objects; some of them fail.
    private static func writes(using random: inout SplitMix64) -> [String] {
        (0..<Int.random(in: 0..<3, using: &random)).map { _ in
            let key = Int.random(in: 0..<12, using: &random)
            let number = Int.random(in: 0..<100, using: &random)
            return switch Int.random(in: 0..<4, using: &random) {
            case 0: "DELETE FROM Item WHERE _id = \(key)"
            case 1: "UPDATE Item SET count = \(number), box = \(key) WHERE _id = \(key)"
            default: "INSERT INTO Item(_id, name, count) VALUES (\(key), 'own', \(number))"
            }
        }
    }

    /// Another client's changes to the same objects: mostly what inserts become.
    private static func changeset(using random: inout SplitMix64) -> [UInt8] {
        var writer = ChangesetWriter()
        for _ in 0..<Int.random(in: 1..<4, using: &random) {
            let object = ObjectReference("Item", Int64.random(in: 0..<12, using: &random))
            if Int.random(in: 0..<20, using: &random) == 0 { writer.eraseObject(object) }
            writer.createObject(object)
            writer.update(object, "name", to: .scalar(.string("their")))
            let number = Int64.random(in: 100..<200, using: &random)
            writer.update(object, "count", to: .scalar(.int(number)))
            if Bool.random(using: &random) { writer.update(object, "box", to: .scalar(.null)) }
        }
        return writer.bytes
    }

    /// A realm that integrates on one path.
    private final class Side {
        private let fixture: RealmFixture
        private let path: Integration.Path
        private var version: UInt64 = 0

        init(_ path: Integration.Path, _ schema: RealmSchema) throws {
            self.fixture = try RealmFixture()
            self.path = path
            try fixture.realm.storeFileIdent(SaltedFileIdent(ident: FileIdent(2), salt: Salt(9)))
            var writer = ChangesetWriter()
            schema.writeAdditions(to: RealmSchema(), into: &writer)
            try #require(try integrate([writer.bytes]) == nil)
        }

        /// Runs a program's statements, and makes local changesets of them.
        func write(_ statements: [String]) throws {
            let program = try fixture.connect()
            for statement in statements {
                try? program.execute(statement)
                _ = try fixture.realm.drain()
            }
        }

        /// The error's text, or nil.
        func integrate(_ changesets: [[UInt8]], time: UInt64 = 1) throws -> String? {
            let file = fixture.realm
            let downloads = changesets.enumerated().map {
                RealmFixture.download(version + UInt64($0) + 1, timestamp: time, $1)
            }
            let incoming = try Integration.parse(downloads)
            let result = try file.write(.normal) { draft in
                try file.attemptingIntegration(&draft) { draft, path in
                    let path = self.path == .direct ? path : .byInstruction
                    return (try file.apply(incoming[...], &draft, path), 0, [])
                }
            }
            switch result {
            case .success:
                version += UInt64(downloads.count)
                return nil
            case .failure(let error):
                return "\(error)"
            }
        }

        func contents() throws -> InMemoryRealm {
            try InMemoryRealm(fixture.connect(), fixture.realm.schema)
        }

        /// The local changesets as transformed by merges, and whether one changed them.
        func history() throws -> [String] {
            try fixture.rows(
                """
                SELECT version, coalesce(reciprocal, changeset), reciprocal IS NOT NULL FROM _realm_history
                WHERE origin_file_ident = 0 ORDER BY version
                """
            )
        }

        func backlinks() throws -> Set<String> {
            try RealmContents.backlinks(fixture.connect())
        }
    }
}

extension InMemoryRealm {
    /// Erases all objects.
    fileprivate var erasures: Changeset {
        var writer = ChangesetWriter()
        for (name, objects) in objects {
            for key in objects.keys {
                writer.eraseObject(ObjectReference(className: name, key: key))
            }
        }
        return (try? Changeset(decoding: writer.bytes)) ?? Changeset()
    }
}

extension RandomInstructions {
    /// Creates some objects, and sets whole properties of them and others.
    fileprivate mutating func plainChangeset(on realm: InMemoryRealm, count: Int) -> Changeset {
        var changeset = changeset(on: realm, count: count)
        changeset.instructions = changeset.instructions.filter { instruction in
            switch instruction {
            case .createObject: return true
            case .update(let update):
                guard update.target.path.isEmpty else { return false }
                switch update.payload {
                case .objectValue, .dictionary, .list, .set, .erased: return false
                default: return true
                }
            default: return false
            }
        }
        // Mistakes stay in now and then; most changesets fit.
        guard Int.random(in: 0..<8, using: &random) > 0 else { return changeset }
        var model = realm
        changeset.instructions = changeset.instructions.filter { instruction in
            let one = Changeset(strings: changeset.strings, instructions: [instruction])
            return (try? model.apply(one)) != nil
        }
        return changeset
    }
}
