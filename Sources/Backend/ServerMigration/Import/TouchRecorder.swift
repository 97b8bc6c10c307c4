import Changesets
import Documents
import Query
import Schemas
import Scopes
import ServerStore
import Versions

/// The images of objects that an import changes in a file with clients of flexible sync (flexible sync,
/// 13.2): their views follow the changes.
struct TouchRecorder {
    private let schema: RealmSchema
    private let form: JSONForm
    private let isQueryable: @Sendable (Text, Text) -> Bool
    private var changes: [(object: ObjectReference, change: TouchedObject.Change)] = []
    private var objects: Set<ObjectReference> = []

    /// Nil in partition-based sync, and as long as there are no clients: new ones begin with the objects.
    init?(
        _ file: ServerFile,
        _ store: any FileReading,
        _ schema: RealmSchema,
        _ target: ImportTarget
    ) throws(StoreError) {
        guard let isQueryable = target.isQueryable, try !store.clientFiles(in: file.id).isEmpty
        else { return nil }
        self.schema = schema
        self.form = JSONForm(schema: schema)
        self.isQueryable = isQueryable
    }

    func contains(_ object: ObjectReference) -> Bool { objects.contains(object) }

    mutating func note(
        _ object: ObjectReference,
        from old: Document?,
        to new: Document?,
        of owner: ClassSchema
    ) {
        let before = old.map { image(of: $0, owner) }
        let after = new.map { image(of: $0, owner) }
        let change: TouchedObject.Change
        switch (before, after) {
        case (nil, let after?): change = .created(after)
        case (let before?, nil): change = .deleted(before)
        case (let before?, let after?):
            change = before == after ? .kept(before) : .changed(from: before, to: after)
        case (nil, nil): return
        }
        objects.insert(object)
        changes.append((object, change))
    }

    /// The changes since the last call, as those of a version.
    mutating func take(at version: ServerVersion) -> [TouchedObject] {
        defer {
            changes = []
            objects = []
        }
        return changes.map { TouchedObject(object: $0.object, version: version, change: $0.change) }
    }

    private func image(of document: Document, _ owner: ClassSchema) -> [UInt8] {
        var values: [Int: Value] = [:]
        for (position, property) in owner.properties.enumerated()
        where schema.obstacleToQueries(on: property) == nil
            && isQueryable(owner.name, property.name)
        {
            values[position] = document.values[position]
        }
        return form.encodeMembers(values, of: owner)
    }
}
