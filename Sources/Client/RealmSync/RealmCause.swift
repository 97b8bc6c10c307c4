/// The reason why a realm is not ``RealmPhase/open`` (interfaces, 5).
///
/// The raw values are stable: they appear in status, events and metrics.
public enum RealmCause: String, CaseIterable, Sendable {
    // Permission to sync.
    case byUser = "by-user"
    case byPlugin = "by-plugin"
    case scheduleWindow = "schedule-window"
    case refreshInterval = "refresh-interval"
    case manualMode = "manual-mode"
    case poorNetwork = "poor-network"
    case metered
    case lowBattery = "low-battery"
    case deniedInterface = "denied-interface"
    case noNetwork = "no-network"

    // Server, log-in and network.
    case backoff
    case logInRefused = "log-in-refused"
    case serverError = "server-error"
    case permissionDenied = "permission-denied"
    case clientReset = "client-reset"

    // The file and its configuration.
    case configuration
    case locked
    case notARealm = "not-a-realm"
    case wrongOwner = "wrong-owner"
    case diskFull = "disk-full"
    case inputOutput = "io-error"
    case schemaConflict = "schema-conflict"
    case schemaAltered = "schema-altered"
}
