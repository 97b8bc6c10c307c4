internal import Changesets
internal import Schemas

/// A class that local realms cannot hold yet.
struct Unsupported: Error, CustomStringConvertible {
    let className: Text
    let reason: String

    var description: String { "class \(className) \(reason), which local realms cannot hold yet" }

    /// The first such class; nil if the whole schema can be held.
    init?(in schema: RealmSchema) {
        for candidate in schema.classes {
            if let reason = Self.reason(candidate, schema) {
                self.className = candidate.name
                self.reason = reason
                return
            }
        }
        return nil
    }

    private static func reason(_ candidate: ClassSchema, _ schema: RealmSchema) -> String? {
        switch candidate.kind {
        case .embedded: return "is embedded"
        case .asymmetric: return "is asymmetric"
        case .topLevel(let key):
            if key.type == .globalKey { return "has no primary key" }
        }
        for property in candidate.properties {
            let isEmbedded: Bool
            if case .embedded = schema.elementType(of: property) {
                isEmbedded = true
            } else {
                isEmbedded = false
            }
            if property.collection != .single || property.type == .mixed || isEmbedded {
                return "has the property \(property.name): \(schema.definition(of: property))"
            }
        }
        return nil
    }
}
