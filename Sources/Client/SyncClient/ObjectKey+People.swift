package import Changesets

extension ObjectKey {
    /// The key as people write it.
    package var forPeople: String {
        switch self {
        case .null: "null"
        case .int(let value): "\(value)"
        case .string(let text): text.description
        case .objectID(let id): "\(id)"
        case .uuid(let id): "\(id)"
        case .globalKey(let key): "\(key)"
        }
    }
}
