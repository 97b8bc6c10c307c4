import Changesets
package import Scopes
import Settings

/// The location of an app's custom user data for tokens (app services, 10.5). There is one object
/// for each user, in a realm of the app.
package struct CustomUserDataConfiguration: Hashable, Sendable {
    /// The realms with the objects (moving an app, 13, N4).
    package enum Place: Hashable, Sendable {
        case partition(Partition)
        /// Each in any realm of the app.
        case anyPartition
    }

    package let className: String
    package let place: Place
    /// The property that holds the user's id, as text or ObjectId.
    package let userIDField: String

    package init(className: String, place: Place, userIDField: String) {
        self.className = className
        self.place = place
        self.userIDField = userIDField
    }

    package init(className: String, partition: Partition, userIDField: String) {
        self.init(className: className, place: .partition(partition), userIDField: userIDField)
    }

    /// Nil, and reported, if a key is missing. In flexible mode there is one realm, and neither `partition`
    /// nor `closed`.
    init?(reading keys: MappingReader, isFlexible: Bool) {
        let className = keys.required("class") { $0.string() }
        let partition = keys.optional("partition") { $0.string() }
            .map { Partition(operatorText: $0) }
        let isClosed = keys.optional("closed", default: false) { $0.bool() }
        let field = keys.required("user_id_field") { $0.string() }
        if isFlexible {
            keys.refuse("partition", beside: .flexible, remedy: "remove it")
            keys.refuse("closed", beside: .flexible, remedy: "remove it; roles close a class")
        } else if isClosed, partition != nil {
            keys.report(
                "partition",
                .conflict,
                "does not go with closed, which has a realm of its own",
                remedy: "remove one of them"
            )
        }
        guard let className, let field else { return nil }
        let place: Place =
            if isFlexible {
                .partition(.flexible)
            } else if isClosed {
                .partition(.closed)
            } else {
                partition.map { .partition($0) } ?? .anyPartition
            }
        self.init(className: className, place: place, userIDField: field)
    }
}
