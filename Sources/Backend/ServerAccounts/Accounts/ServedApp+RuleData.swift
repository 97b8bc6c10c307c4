package import JSON
import ServerConfig
package import ServerStore

extension ServedApp {
    /// Reads a user's own object for access rules, as canonical Extended JSON; nil if the app has no
    /// custom user data.
    package var ruleData: (@Sendable (UserID, any FileReading) throws(StoreError) -> JSONValue?)? {
        guard let source = configuration.customUserData else { return nil }
        return { [id] user, snapshot throws(StoreError) in
            try CustomUserData(configuration: source).read(of: user, in: id, from: snapshot)
        }
    }
}
