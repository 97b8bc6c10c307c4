import Changesets
import Documents
import Schemas

/// A transaction while it is being written, and the realm as it would be if it ended here.
struct TransactionDraft {
    private(set) var realm: InMemoryRealm
    private var writer = ChangesetWriter()

    init(realm: InMemoryRealm) {
        self.realm = realm
    }

    mutating func perform(_ write: (inout ChangesetWriter) -> Void) throws {
        write(&writer)
        var single = ChangesetWriter()
        write(&single)
        try realm.apply(Changeset(decoding: single.bytes))
    }

    func changeset() throws -> Changeset {
        try Changeset(decoding: writer.bytes)
    }

    /// The value at the place, found as an applier finds it.
    func value(at place: RandomTransactions.Place) -> Value? {
        guard var value = realm.value(place.field, of: place.object),
            var property = realm.schema[place.object.className]?.property(named: place.field)
        else { return nil }
        for step in place.path {
            switch (step, value) {
            case (.index(let index), .list(let elements)):
                value = elements[Int(index)]
            case (.string(let name), .dictionary(let members)):
                guard let member = members[name] else { return nil }
                value = member
            case (.string(let name), .object(let document)):
                guard case .link(let target) = property.type, let schema = realm.schema[target],
                    let inner = schema.property(named: name),
                    let member = document.value(of: name, in: schema)
                else { return nil }
                (property, value) = (inner, member)
            default:
                return nil
            }
        }
        return value
    }
}
