import Changesets
import Documents
import LocalRealm
import SQLite
import Schemas
import TestSupport
import Testing
import Versions

/// A realm file and an in-memory realm that get the same changesets: the second defines the
/// expected result of the first.
final class Twins {
    let fixture: RealmFixture
    private(set) var model = InMemoryRealm()
    private var version: UInt64 = 0

    /// The schema comes from the server, classes without primary key included.
    convenience init(_ schema: RealmSchema) throws {
        var writer = ChangesetWriter()
        schema.writeAdditions(to: RealmSchema(), into: &writer)
        try self.init(base: Changeset(decoding: writer.bytes))
    }

    init(base: Changeset) throws {
        fixture = try RealmFixture()
        try #require(try receive([base]) == nil)
    }

    /// Gives both the changesets as one batch; nil if both accept it, or the error of both.
    func receive(_ changesets: [Changeset]) throws -> BadInstruction? {
        let expected = refusal(changesets)
        let downloads = changesets.enumerated().map { index, changeset in
            RealmFixture.download(version + UInt64(index) + 1, changeset.encoded())
        }
        do throws(LocalRealmError) {
            try fixture.receive(upTo: version + UInt64(downloads.count), downloads)
            version += UInt64(downloads.count)
            #expect(expected == nil, "the file took what does not fit")
        } catch {
            #expect(error.kind == .badChangeset, "\(error)")
            let words = expected.map { "\($0)" } ?? "the file refused what fits"
            if expected?.isTheOnlyMistake(in: changesets) ?? true {
                #expect(error.message.hasSuffix(words), "\(error)")
            }
        }
        return expected
    }

    private func refusal(_ changesets: [Changeset]) -> BadInstruction? {
        let before = model
        do throws(BadInstruction) {
            for changeset in changesets { try model.apply(changeset) }
            return nil
        } catch {
            model = before
            return error
        }
    }

    /// Compares everything that a reader can see, and the agent's own data about it.
    func compare(_ comment: Comment, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let connection = try fixture.connect()
        let stored = try InMemoryRealm(connection, fixture.realm.schema)
        if stored != model {
            Issue.record(
                "\(comment): \(differences(stored).joined(separator: "\n"))",
                sourceLocation: sourceLocation
            )
        }
        let backlinks = try RealmContents.backlinks(connection)
        #expect(
            backlinks.symmetricDifference(RealmContents.backlinks(model)) == [],
            comment,
            sourceLocation: sourceLocation
        )
        #expect(try fixture.captured() == [], comment, sourceLocation: sourceLocation)
    }

    private func differences(_ stored: InMemoryRealm) -> [String] {
        let names = Set(model.objects.keys).union(stored.objects.keys)
        return names.sorted().flatMap { name -> [String] in
            let (ours, theirs) = (stored.objects[name] ?? [:], model.objects[name] ?? [:])
            guard let owner = model.schema[name] else { return ["no class \(name)"] }
            return Set(ours.keys).union(theirs.keys).flatMap { key -> [String] in
                guard let left = ours[key], let right = theirs[key] else {
                    return ["\(name)[\(key)] is in one only"]
                }
                return owner.properties.compactMap { property in
                    let position = stored.schema[name]?.position(of: property.name)
                    let value = position.map { left.values[$0] }
                    let expected = right.value(of: property.name, in: owner)
                    return value == expected
                        ? nil
                        : "\(name)[\(key)].\(property.name): \(value as Any), not \(expected as Any)"
                }
            }
        }
    }
}

extension BadInstruction {
    /// Of several errors any may be found first: an instruction on a missing object may be invalid
    /// in itself.
    fileprivate func isTheOnlyMistake(in changesets: [Changeset]) -> Bool {
        guard changesets.count == 1, changesets[0].instructions.count == 1 else { return false }
        switch problem {
        case .missingObject, .wrongKeyType: return false
        default: return true
        }
    }
}
