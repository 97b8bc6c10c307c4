import Changesets
import Documents
import Schemas

/// Finds the list that a place names in a document.
struct ListLookup {
    private let place: ListPlace
    private let schema: RealmSchema

    init(_ place: ListPlace, _ schema: RealmSchema) {
        self.place = place
        self.schema = schema
    }

    func list(in document: Document) -> [Value]? {
        var document = document
        var found: [Value]?
        _ = edit(&document) { elements, _ in found = elements }
        return found
    }

    /// Lends the list and its property; false if there is no list at the place.
    func edit<Failure: Error>(
        _ document: inout Document,
        _ body: (inout [Value], PropertySchema) throws(Failure) -> Void
    ) throws(Failure) -> Bool {
        guard let owner = schema[place.object.className],
            let position = owner.position(of: place.field)
        else { return false }
        let property = owner.properties[position]
        return try edit(&document.values[position], property, place.steps[...], body)
    }

    private func edit<Failure: Error>(
        _ value: inout Value,
        _ property: PropertySchema,
        _ steps: ArraySlice<Text>,
        _ body: (inout [Value], PropertySchema) throws(Failure) -> Void
    ) throws(Failure) -> Bool {
        guard let step = steps.first else {
            guard case .list(var elements) = value else { return false }
            value = .null
            try body(&elements, property)
            value = .list(elements)
            return true
        }
        switch value {
        case .dictionary(var members):
            guard var member = members[step] else { return false }
            let isFound = try edit(&member, property, steps.dropFirst(), body)
            members[step] = member
            value = .dictionary(members)
            return isFound
        case .object(var document):
            guard case .link(let className) = property.type, let owner = schema[className],
                let position = owner.position(of: step)
            else { return false }
            let inner = owner.properties[position]
            let isFound = try edit(&document.values[position], inner, steps.dropFirst(), body)
            value = .object(document)
            return isFound
        case .scalar, .list, .set:
            return false
        }
    }
}
