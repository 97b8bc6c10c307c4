import Changesets
import Schemas

/// The values of users that rules here know.
struct KnownUserData {
    enum CustomData {
        /// Hosted users had none: each value was missing.
        case absent
        /// The class of the objects, if it is known.
        case available(ClassSchema?)
        /// There were some, but they are not carried over.
        case lost
    }

    let custom: CustomData

    enum Form {
        case single
        case list
        case unknown
    }

    /// Members of a profile that are always text (app services, 7.1).
    static let textFields: Set<String> = [
        "name", "email", "picture", "picture_url", "first_name", "last_name", "gender", "birthday",
        "min_age", "max_age",
    ]

    static func form(ofData path: [String]) -> Form {
        path.count == 1 && textFields.contains(path[0]) ? .single : .unknown
    }

    func form(ofCustomData path: [String]) -> Form {
        guard case .available(let owner?) = custom, path.count == 1 else { return .unknown }
        if owner.primaryKey?.name == Text(path[0]) { return .single }
        guard let property = owner.property(named: Text(path[0])) else { return .unknown }
        switch property.collection {
        case .list, .set: return .list
        case .dictionary: return .unknown
        case .single: return property.type == .mixed ? .unknown : .single
        }
    }
}
