import MetricsFormat
import ServerStore

/// Totals of the events since the server's start.
struct ServerTotals: Sendable {
    private(set) var uploads = CounterFamily("app")
    private(set) var uploadedBytes = CounterFamily("app")
    private(set) var integrations: [AppID: Histogram] = [:]
    private(set) var mergedPairs = CounterFamily("app")
    private(set) var corrections = CounterFamily("app")
    private(set) var rejectedWrites = CounterFamily("app")
    private(set) var downloads = CounterFamily("app", "kind")
    private(set) var downloadedBytes = CounterFamily("app", "kind")
    private(set) var scans: [AppID: Histogram] = [:]
    private(set) var sessionErrors = CounterFamily("app", "code")
    private(set) var resets = CounterFamily("app", "code")
    private(set) var rejectedQueries = CounterFamily("app")
    private(set) var requests = CounterFamily("route", "status")
    private(set) var rejections = CounterFamily("code")
    private(set) var logIns = CounterFamily("app", "provider", "outcome")
    private(set) var tokens: [MeasuredEvent.TokenKind: UInt64] = [:]
    private(set) var limits: [MeasuredLimit: UInt64] = [:]
    private(set) var jobs: [Job: Histogram] = [:]
    private(set) var storeCalls: [MeasuredEvent.StoreCall: Histogram] = [:]
    private(set) var storeFailures = CounterFamily("code")
    private(set) var snapshots = Histogram()

    /// Apps with histograms of their own; those above share one.
    private static let appLimit = 200
    private static let otherApps = AppID(CounterFamily.other)

    mutating func add(_ event: MeasuredEvent) {
        switch event {
        case .integrated(let app, let changesets, let bytes, let pairs, let seconds):
            uploads.add(app.rawValue, count: changesets)
            uploadedBytes.add(app.rawValue, count: bytes)
            mergedPairs.add(app.rawValue, count: pairs)
            Self.record(seconds, of: app, in: &integrations)
        case .corrected(let app):
            corrections.add(app.rawValue)
        case .rejectedWrites(let app, let count):
            rejectedWrites.add(app.rawValue, count: count)
        case .downloaded(let app, let kind, let changesets, let bytes):
            downloads.add(app.rawValue, kind.rawValue, count: changesets)
            downloadedBytes.add(app.rawValue, kind.rawValue, count: bytes)
        case .scanned(let app, let seconds):
            Self.record(seconds, of: app, in: &scans)
        case .failed(let app, let code, let resetsClient):
            sessionErrors.add(app.rawValue, "\(code)")
            if resetsClient { resets.add(app.rawValue, "\(code)") }
        case .rejectedQuery(let app):
            rejectedQueries.add(app.rawValue)
        case .answered(let route, let status, let rejection):
            requests.add(route, "\(status)")
            if let rejection { rejections.add(rejection) }
        case .loggedIn(let app, let provider, let outcome):
            logIns.add(app?.rawValue ?? "unknown", provider, outcome)
        case .issuedToken(let kind):
            tokens[kind, default: 0] &+= 1
        case .reached(let limit):
            limits[limit, default: 0] &+= 1
        case .finished(let job, let seconds):
            jobs[job, default: Histogram()].record(seconds: seconds)
        case .called(let call, let seconds):
            storeCalls[call, default: Histogram()].record(seconds: seconds)
        case .storeFailed(let code):
            storeFailures.add(code)
        case .builtSnapshot(let seconds):
            snapshots.record(seconds: seconds)
        }
    }

    private static func record(
        _ seconds: Double,
        of app: AppID,
        in histograms: inout [AppID: Histogram]
    ) {
        let isKnown = histograms[app] != nil || histograms.count < appLimit
        guard let place = isKnown ? app : otherApps else { return }
        histograms[place, default: Histogram()].record(seconds: seconds)
    }
}
