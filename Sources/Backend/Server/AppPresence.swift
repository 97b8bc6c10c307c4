import ServerAccounts
import ServerConfig
import ServerStore

/// Shows other processes the configurations of this one's apps.
final class AppPresence: BackplaneParticipant {
    private let apps: AppDirectory

    init(_ apps: AppDirectory) {
        self.apps = apps
    }

    func receive(_ message: BackplaneMessage) {}

    func counts(of app: AppID) -> ConnectionCounts { ConnectionCounts() }

    var presence: ConnectionPresence {
        let all = apps.all
        return ConnectionPresence(
            fingerprints: Dictionary(all.map { ($0.id, $0.fingerprint) }) { first, _ in first },
            offlineLimitInMilliseconds: all.compactMap(\.configuration.offlineLimitInMilliseconds)
                .min()
        )
    }
}
