internal import Changesets
internal import ClientReset
internal import Documents
internal import Schemas

/// The objects of asymmetric classes among unsynced changes: they are no longer in their tables,
/// only in the changesets.
struct OutgoingObjects {
    private let schema: RealmSchema
    private var replay: Recovery<RealmTables, RealmTables>

    init(_ local: RealmTables) {
        self.schema = local.schema
        self.replay = Recovery(fresh: local, local: local)
    }

    mutating func add(_ changeset: Changeset) throws {
        var own = Changeset()
        own.strings = changeset.strings
        own.instructions = changeset.instructions.filter { instruction in
            instruction.objectTarget.map { isOutgoing(changeset.reference($0)) } ?? false
        }
        if !own.instructions.isEmpty { _ = try replay.replay(own) }
    }

    /// Nil for an object of another class.
    func document(for object: ObjectReference) throws -> Document? {
        guard isOutgoing(object) else { return nil }
        return try replay.state.document(for: object)
    }

    private func isOutgoing(_ object: ObjectReference) -> Bool {
        schema[object.className]?.isAsymmetric ?? false
    }
}
