import ServerStore
import Versions

/// Notices that processes have different configurations of an app for longer than a reload of all of
/// them takes.
struct ConfigurationComparison: Sendable {
    /// Milliseconds since 1970 at which a difference was first seen; told: nil.
    private var since: [AppID: Int64?] = [:]

    static let toleranceInMilliseconds: Int64 = 300_000

    /// The apps to report, each once as long as it differs.
    ///
    /// - Parameter others: the fingerprints of each other process.
    mutating func differing(
        _ own: [AppID: String],
        _ others: [[AppID: String]],
        at now: Int64
    ) -> [AppID] {
        var reported: [AppID] = []
        for (app, fingerprint) in own {
            guard others.contains(where: { $0[app] != fingerprint }) else {
                since[app] = nil
                continue
            }
            guard let first = since[app, default: now] else { continue }
            since.updateValue(first, forKey: app)
            guard now.subtracting(clamping: first) >= Self.toleranceInMilliseconds else { continue }
            since.updateValue(nil, forKey: app)
            reported.append(app)
        }
        return reported.sorted { $0.rawValue < $1.rawValue }
    }
}
