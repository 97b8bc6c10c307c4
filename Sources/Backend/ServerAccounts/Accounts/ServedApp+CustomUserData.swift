package import Changesets
package import JSON
import ServerConfig
package import ServerStore

extension ServedApp {
    /// The class of the users' own objects, and the property with the user's id; nil if there is none.
    package var customUserDataPlace: (className: Text, userIDField: Text)? {
        configuration.customUserData.map { (Text($0.className), Text($0.userIDField)) }
    }

    /// A user's own object, as canonical Extended JSON; nil if there is none.
    package func customData(
        of user: UserID,
        _ snapshot: any FileReading
    ) throws(StoreError) -> JSONValue? {
        guard let source = configuration.customUserData else { return nil }
        return try CustomUserData(configuration: source).read(of: user, in: id, from: snapshot)
    }
}
