import Changesets
import Documents
import Schemas
import TestSupport
import Testing

/// Sync history, 14.6: instructions that do not fit are left out, all others count.
@Suite("Uploads that do not fit")
struct AdmissionTests {
    private static let object = Fixture.object

    private static let gone = ObjectReference(className: "Everything", key: .int(9))

    /// Admits the body's writes to a realm with one object; returns the realm and the admitted
    /// changeset.
    private func admit(
        to realm: InMemoryRealm? = nil,
        _ admission: inout Admission,
        _ write: (inout ChangesetWriter) -> Void
    ) throws -> (realm: InMemoryRealm, admitted: Changeset) {
        var writer = ChangesetWriter()
        write(&writer)
        var realm = try realm ?? Fixture().realm
        var applier = Applier<InMemoryRealm>()
        let changeset = try Changeset(decoding: writer.bytes)
        let admitted = try applier.admit(changeset, to: &realm, &admission)
        try applier.finish(&realm)
        // Other clients apply the admitted part, and have the same.
        var other = try Fixture().realm
        try other.apply(admitted)
        return (realm, admitted)
    }

    @Test("A fitting changeset is admitted unchanged")
    func fits() throws {
        var admission = Admission()
        let (realm, admitted) = try admit(&admission) { writer in
            writer.update(Self.object, "int", to: .scalar(.int(5)))
            writer.arrayInsert(
                Self.object,
                "intList",
                path: [.index(0)],
                .scalar(.int(1)),
                priorSize: 0
            )
        }
        #expect(admission.misfits.isEmpty)
        #expect(admitted.instructions.count == 2)
        #expect(realm.value("intList", of: Self.object) == [1])
    }

    @Test("Changes to an erased object are left out, without a loss")
    func missingObject() throws {
        var admission = Admission()
        let (realm, admitted) = try admit(&admission) { writer in
            writer.addInteger(Self.gone, "int", amount: 3)
            writer.update(Self.gone, "string", to: .scalar(.string("x")))
            writer.update(Self.object, "int", to: .scalar(.int(5)))
        }
        #expect(admitted.instructions.count == 1)
        #expect(realm.value("int", of: Self.object) == 5)
        #expect(admission.misfits.map(\.object) == [Self.gone])
        #expect(admission.misfits.map(\.count) == [2])
        #expect(admission.misfits.map(\.losesData) == [false])
        #expect(admission.misfits.first?.problem == .missingObject("Everything"))
    }

    @Test("A recreated object takes changes again")
    func madeAgain() throws {
        var admission = Admission()
        let (realm, _) = try admit(&admission) { writer in
            writer.addInteger(Self.gone, "int", amount: 3)
            writer.createObject(Self.gone)
            writer.addInteger(Self.gone, "int", amount: 4)
        }
        #expect(realm.value("int", of: Self.gone) == 4)
        #expect(admission.misfits.map(\.count) == [1])
    }

    @Test("After an edit of a list that does not fit, none of its positions can be trusted")
    func lists() throws {
        var admission = Admission()
        var fixture = try Fixture()
        try fixture.perform(fixture.insert(.string("a"), "stringList", 0, priorSize: 0))
        let (realm, admitted) = try admit(to: fixture.realm, &admission) { writer in
            // The client counts two elements, the server has one.
            writer.arrayInsert(
                Self.object,
                "stringList",
                path: [.index(2)],
                .scalar(.string("c")),
                priorSize: 2
            )
            // This index exists, but is not the one that the client means.
            writer.updateElement(
                Self.object,
                "stringList",
                path: [.index(0)],
                to: .scalar(.string("z")),
                priorSize: 3
            )
            writer.update(Self.object, "int", to: .scalar(.int(5)))
        }
        #expect(realm.value("stringList", of: Self.object) == ["a"])
        #expect(realm.value("int", of: Self.object) == 5)
        #expect(admitted.instructions.count == 1)
        #expect(admission.misfits.map(\.count) == [2])
        #expect(admission.misfits.map(\.losesData) == [true])
        // Emptying the list makes its positions valid again.
        let (after, _) = try admit(to: realm, &admission) { writer in
            writer.clear(Self.object, "stringList", .list)
            writer.arrayInsert(
                Self.object,
                "stringList",
                path: [.index(0)],
                .scalar(.string("n")),
                priorSize: 0
            )
        }
        #expect(after.value("stringList", of: Self.object) == ["n"])
    }

    @Test("A value that the server already has is not a loss, nor is an erasure")
    func noLoss() throws {
        var fixture = try Fixture()
        try fixture.perform(fixture.insert(.string("a"), "stringList", 0, priorSize: 0))
        var admission = Admission()
        _ = try admit(to: fixture.realm, &admission) { writer in
            writer.arrayInsert(
                Self.object,
                "stringList",
                path: [.index(5)],
                .scalar(.string("a")),
                priorSize: 5
            )
            writer.arrayErase(Self.object, "stringList", path: [.index(4)], priorSize: 6)
        }
        #expect(admission.misfits.map(\.losesData) == [false])
    }

    @Test("Paths that do not fit the content of Mixed and embedded objects are left out")
    func openProperties() throws {
        var admission = Admission()
        let (_, admitted) = try admit(&admission) { writer in
            writer.update(Self.object, "any", path: [.string("k")], to: .scalar(.int(1)))
            writer.update(Self.object, "part", path: [.string("count")], to: .scalar(.int(1)))
            writer.addInteger(Self.object, "any", amount: 1)
        }
        #expect(admitted.instructions.isEmpty)
        #expect(admission.misfits.map(\.count) == [3])
    }

    @Test("An instruction that fits no state of the object is refused")
    func malformed() throws {
        let cases: [(inout ChangesetWriter) -> Void] = [
            { $0.update(Self.object, "int", to: .scalar(.string("x"))) },
            { $0.update(Self.object, "nothing", to: .scalar(.int(1))) },
            { $0.update(Self.object, "int", path: [.string("k")], to: .scalar(.int(1))) },
            { $0.addInteger(Self.object, "string", amount: 1) },
            {
                $0.update(Self.object, "intDictionary", path: [.string("$k")], to: .scalar(.int(1)))
            },
        ]
        for (number, write) in cases.enumerated() {
            var admission = Admission()
            #expect(throws: ApplyError<Never>.self, "\(number)") {
                try admit(&admission, write)
            }
            #expect(admission.misfits.isEmpty, "\(number)")
        }
    }

    @Test("Others get the content of a typed set in place of an erasure of null")
    func erasureOfNull() throws {
        var fixture = try Fixture()
        for payload in [Payload.null, .int(1), .int(2)] {
            try fixture.perform(fixture.setInsert(payload, "intOptionalSet"))
            try fixture.perform(fixture.setInsert(payload, "anySet"))
        }
        var admission = Admission()
        let (realm, admitted) = try admit(to: fixture.realm, &admission) { writer in
            writer.setInsert(Self.object, "intOptionalSet", .int(3))
            writer.setErase(Self.object, "intOptionalSet", .null)
            writer.setErase(Self.object, "intOptionalSet", .int(1))
            writer.setErase(Self.object, "anySet", .null)
            // Nothing left to erase.
            writer.setErase(Self.object, "intOptionalSet", .null)
        }
        #expect(admission.misfits.isEmpty)
        #expect(realm.value("intOptionalSet", of: Self.object) == .set(.int(2), .int(3)))
        var other = fixture.realm
        try other.apply(admitted)
        #expect(other == realm)
        let erasures = admitted.instructions.filter { instruction in
            guard case .setErase(let erase) = instruction, erase.payload == .null else {
                return false
            }
            return true
        }
        #expect(erasures.count == 1, "of the set of Mixed, which all receivers apply")
    }

    @Test("A change that cannot be merged is taken out of every changeset of the upload")
    func drop() throws {
        var writer = ChangesetWriter()
        writer.arrayErase(Self.object, "intList", path: [.index(0)], priorSize: 4)
        writer.update(Self.object, "int", to: .scalar(.int(5)))
        let first = try Changeset(decoding: writer.bytes)
        writer = ChangesetWriter()
        writer.arrayInsert(
            Self.object,
            "intList",
            path: [.index(0)],
            .scalar(.int(1)),
            priorSize: 3
        )
        var changesets = [first, try Changeset(decoding: writer.bytes)]
        var admission = Admission()
        admission.drop(first.instructions[0], of: first, from: &changesets, first: 4)
        #expect(changesets.map(\.instructions.count) == [1, 0])
        #expect(admission.misfits.map(\.changeset) == [4])
        #expect(admission.misfits.map(\.count) == [2])
        #expect(admission.misfits.map(\.losesData) == [true])
    }
}
