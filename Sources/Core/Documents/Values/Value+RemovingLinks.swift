package import Changesets

extension Value {
    /// The value after the objects were deleted locally: their entries are removed from lists and
    /// sets, and all other links to them become null (instruction semantics, 5.6).
    package func removingLinks(to isDeleted: (ObjectReference) -> Bool) -> Value {
        switch self {
        case .scalar(.link(let link)):
            return isDeleted(link) ? .null : self
        case .scalar:
            return self
        case .list(let elements):
            return .list(
                elements.compactMap { element in
                    if case .scalar(.link(let link)) = element, isDeleted(link) { return nil }
                    return element.removingLinks(to: isDeleted)
                }
            )
        case .set(let set):
            return .set(
                ValueSet(
                    set.elements.filter { element in
                        if case .link(let link) = element { !isDeleted(link) } else { true }
                    }
                )
            )
        case .dictionary(let members):
            return .dictionary(members.mapValues { $0.removingLinks(to: isDeleted) })
        case .object(let document):
            return .object(
                Document(values: document.values.map { $0.removingLinks(to: isDeleted) })
            )
        }
    }
}
