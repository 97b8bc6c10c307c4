import Changesets
package import Scopes
import Settings

/// The location of an app's custom user data for tokens (app services, 10.5). There is one object
/// for each user, in a realm of the app.
package struct CustomUserDataConfiguration: Hashable, Sendable {
    package let className: String
    package let partition: Partition
    /// The property that holds the user's id, as text or ObjectId.
    package let userIDField: String

    package init(className: String, partition: Partition, userIDField: String) {
        self.className = className
        self.partition = partition
        self.userIDField = userIDField
    }

    /// Nil, and reported, if a key is missing. In flexible mode there is one realm, and no `partition`.
    init?(reading keys: MappingReader, isFlexible: Bool) {
        let className = keys.required("class") { $0.string() }
        let partition: Partition?
        if isFlexible {
            _ = keys.optional("partition") { $0.string() }
            keys.refuse("partition", beside: .flexible, remedy: "remove it")
            partition = .flexible
        } else {
            partition = keys.required("partition") { $0.string() }
                .map { Partition(operatorText: $0) }
        }
        let field = keys.required("user_id_field") { $0.string() }
        guard let className, let partition, let field else { return nil }
        self.init(
            className: className,
            partition: partition,
            userIDField: field
        )
    }
}
