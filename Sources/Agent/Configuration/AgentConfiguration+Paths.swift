import AppServices
package import Config
import Control
import RealmSync

extension AgentConfiguration {
    /// The same with the paths of realms whose path depends on the user: as the running agent says, else as
    /// its records say. A user that never logged in has none; the path then keeps its placeholder.
    package func located() async -> AgentConfiguration {
        guard realms.contains(where: { $0.pathOfUser != nil }) else { return self }
        let status = try? await ControlClient(socketPath: daemon.controlSocket).status()
        var located = self
        located.realms = realms.map { realm in
            guard realm.pathOfUser != nil else { return realm }
            if let path = status?.realms.first(where: { $0.name == realm.name })?.path,
                path != realm.path
            {
                var known = realm
                known.path = path
                return known
            }
            let account = try? storedAccount(of: realm.user)
            return realm.located(userID: account?.userID.safeInPath)
        }
        return located
    }
}

extension String {
    fileprivate var safeInPath: String? { RealmLocation.isSafe(self) ? self : nil }
}
