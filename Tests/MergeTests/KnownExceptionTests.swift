import Changesets
import Documents
import Merge
import Schemas
import TestSupport
import Testing

/// Cases that do not converge, and must stay so: SDK clients merge by the same rules, and a fix on
/// one side only would make things worse (merge rules, 8).
///
/// Each example also shows why `RandomTransactions` has to leave something out.
@Suite("Known exceptions")
struct KnownExceptionTests {
    struct Exception: CustomTestStringConvertible {
        let name: String
        let base: String
        let ours: String
        let theirs: String
        var times: (UInt64, UInt64) = (10, 20)
        var idents: (UInt64, UInt64) = (2, 3)

        var testDescription: String { name }
    }

    @Test("The peers end in different states, or one refuses what the other did", arguments: all)
    func exception(_ row: Exception) throws {
        var base = InMemoryRealm()
        try base.apply(RandomTransactions.baseChangeset)
        try base.apply(Notation.changeset("CreateObject Thing:1; " + row.base))

        let ours = [operand(row.ours, row.times.0, row.idents.0)]
        let theirs = [operand(row.theirs, row.times.1, row.idents.1)]
        // Each alone is a possible transaction.
        var (local, remote) = (base, base)
        try local.apply(ours[0].changeset)
        try remote.apply(theirs[0].changeset)

        let converged: Bool
        do {
            try integrate(theirs, into: &local, over: ours)
            try integrate(ours, into: &remote, over: theirs)
            converged = local == remote
        } catch is BadInstruction {
            converged = false
        }
        #expect(!converged)
    }

    static let all = [
        Exception(
            name: "N-MOVE: the move becomes one onto itself",
            base: """
                ArrayInsert Thing:1.le[0]=ObjectValue prior 0; \
                ArrayInsert Thing:1.le[1]=ObjectValue prior 1
                """,
            ours: "ArrayMove Thing:1.le[0]->1 prior 2",
            theirs: "Update Thing:1.le[0].i=1"
        ),
        Exception(
            name: "N-MOVE: another element is moved",
            base: """
                ArrayInsert Thing:1.le[0]=ObjectValue prior 0; \
                ArrayInsert Thing:1.le[1]=ObjectValue prior 1; \
                ArrayInsert Thing:1.le[2]=ObjectValue prior 2
                """,
            ours: "ArrayMove Thing:1.le[1]->2 prior 3",
            theirs: "Update Thing:1.le[0].i=1"
        ),
        Exception(
            name: "N-CLEAR: another element is cleared",
            base: "ArrayInsert Thing:1.lx[0]=List prior 0; ArrayInsert Thing:1.lx[0][0]=5 prior 0",
            ours: "ArrayInsert Thing:1.lx[0]=1 prior 1",
            theirs: "Clear Thing:1.lx[0] List"
        ),
        Exception(
            name: "M-PASS: both create a list, one replaces it",
            base: "",
            ours: "Update Thing:1.x=List; ArrayInsert Thing:1.x[0]=1 prior 0",
            theirs: """
                Update Thing:1.x=List; ArrayInsert Thing:1.x[0]=7 prior 0; Update Thing:1.x=5
                """,
            times: (30, 20)
        ),
        Exception(
            name: "E-DICT: both create an object at one dictionary key",
            base: "",
            ours: "Update Thing:1.de.k=ObjectValue; Update Thing:1.de.k.i=1",
            theirs: "Update Thing:1.de.k=ObjectValue; Update Thing:1.de.k.x=2"
        ),
        Exception(
            name: "E-DICT: one replaces the object that the other changes",
            base: "Update Thing:1.de.k=ObjectValue",
            ours: "Update Thing:1.de.k=ObjectValue",
            theirs: "Update Thing:1.de.k.i=1"
        ),
        Exception(
            name: "S-RAW: two erased strings are taken for one",
            base: "SetInsert Thing:1.ss \"a\"; SetInsert Thing:1.ss \"b\"",
            ours: "SetErase Thing:1.ss \"a\"",
            theirs: "SetErase Thing:1.ss \"b\""
        ),
        Exception(
            name: "MIXCOL: something is added to a column that is gone",
            base: "",
            ours: "EraseColumn Thing.i",
            theirs: "AddInteger Thing:1.i+=1"
        ),
        Exception(
            name: "DEF-NEST: a default takes nested content along before it loses",
            base: "Update Thing:1.x=Dictionary",
            ours: "Update Thing:1.x.a=1; Update Thing:1.x=Dictionary",
            theirs: "Update Thing:1.x=5 default"
        ),
        Exception(
            name: "TIE: with equal stamps each peer prefers its own",
            base: "",
            ours: "Update Thing:1.i=1",
            theirs: "Update Thing:1.i=2",
            times: (10, 10),
            idents: (2, 2)
        ),
        // Not in the specification's table.
        Exception(
            name: "A cleared collection whose key an older change has erased",
            base: "Update Thing:1.dx.a=List",
            ours: "Update Thing:1.dx.a=Erased",
            theirs: "Clear Thing:1.dx.a List"
        ),
    ]

    @Test("M-PASS among three: two create a list, the third writes a number in between")
    func passAmongThree() throws {
        var base = InMemoryRealm()
        try base.apply(RandomTransactions.baseChangeset)
        try base.apply(Notation.changeset("CreateObject Thing:1"))
        var server = ModelServer(realm: base)
        var clients: [ModelClient] = []
        for (ident, time, text) in [
            (2, 10, "Update Thing:1.x=List; ArrayInsert Thing:1.x[0]=7 prior 0"),
            (3, 30, "Update Thing:1.x=List"),
            (4, 20, "Update Thing:1.x=5"),
        ] as [(UInt64, UInt64, String)] {
            var client = ModelClient(ident: ident, realm: base)
            let changeset = Notation.changeset(text)
            try client.commit(changeset, bytes: changeset.encoded(), time: time)
            try server.integrate(client.uploads(after: 0), from: ident)
            clients.append(client)
        }
        try clients[2].integrate(server.downloads(for: 4, after: 0))
        let thing = ObjectReference(className: "Thing", key: .int(1))
        #expect(server.realm.value("x", of: thing) == .list([.scalar(.int(7))]))
        #expect(clients[2].realm.value("x", of: thing) == .list([]))
    }

    private func integrate(
        _ theirs: [MergeOperand],
        into realm: inout InMemoryRealm,
        over ours: [MergeOperand]
    ) throws {
        var (ours, theirs) = (ours, theirs)
        try rebase(ours: &ours, theirs: &theirs)
        for operand in theirs {
            try realm.apply(operand.changeset)
        }
    }

    private func operand(_ text: String, _ time: UInt64, _ ident: UInt64) -> MergeOperand {
        MergeOperand(
            changeset: Notation.changeset(text),
            stamp: Stamp(timestamp: time, fileIdent: ident)
        )
    }
}
