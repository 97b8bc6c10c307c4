import Changesets
import Query

/// Which objects a role allows something on.
indirect enum RoleFilter: Sendable {
    case constant(Bool)
    case filter(DocumentFilter<UserValueName>)
    case all([RoleFilter])
    case any([RoleFilter])

    func query(for user: UserValues, of className: Text) -> CheckedQuery {
        switch self {
        case .constant(let isTrue): CheckedQuery(isTrue, of: className)
        case .filter(let filter): filter.query { user[$0] }
        case .all(let parts):
            parts.reduce(CheckedQuery(true, of: className)) {
                $0.and($1.query(for: user, of: className))
            }
        case .any(let parts):
            parts.reduce(CheckedQuery(false, of: className)) {
                $0.or($1.query(for: user, of: className))
            }
        }
    }

    var names: Set<UserValueName> {
        switch self {
        case .constant: []
        case .filter(let filter): filter.names
        case .all(let parts), .any(let parts): Set(parts.flatMap(\.names))
        }
    }

    func append(to signature: inout RightsSignature) {
        switch self {
        case .constant(let isTrue): signature.append(isTrue ? "true" : "false")
        case .filter(let filter):
            signature.append("filter")
            signature.append(filter.text)
        case .all(let parts):
            signature.append("all \(parts.count)")
            for part in parts { part.append(to: &signature) }
        case .any(let parts):
            signature.append("any \(parts.count)")
            for part in parts { part.append(to: &signature) }
        }
    }
}
