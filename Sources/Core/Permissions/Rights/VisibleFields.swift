package import Changesets

/// The fields of a class that a view has, beside the primary key. It also decides on fields that are
/// added to the class later.
package enum VisibleFields: Hashable, Sendable {
    case allExcept(Set<Text>)
    case only(Set<Text>)

    package static let all = VisibleFields.allExcept([])

    package func contains(_ field: Text) -> Bool {
        switch self {
        case .allExcept(let hidden): !hidden.contains(field)
        case .only(let visible): visible.contains(field)
        }
    }
}
