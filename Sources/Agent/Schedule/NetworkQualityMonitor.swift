import Coordination
import Scheduling
import SyncClient
import Synchronization

/// Rates the network path to one server from one connection, for all realms that use it.
///
/// While a realm is paused because of poor quality and nothing is connected, the monitor probes the
/// path. Otherwise an improvement would go unnoticed.
final class NetworkQualityMonitor: Sendable {
    private struct State {
        var quality: NetworkQuality
        var interface: String?
        /// Realms that are paused until the network is good.
        var waiting: Set<String> = []
        /// Signals of the realms that decide again when the verdict changes, by realm.
        var listeners: [String: Signal] = [:]
        /// When anything was measured, or was tried to be.
        var lastLook = Duration.zero
        var roundTrip: Duration?
    }

    private let state: Mutex<State>
    private let time: SyncTime
    private let attention = Signal()

    init(_ thresholds: PoorNetwork = PoorNetwork(), time: SyncTime = .continuous) {
        self.state = Mutex(State(quality: NetworkQuality(thresholds)))
        self.time = time
    }

    // MARK: Readings

    func note(_ reading: NetworkQuality.Reading) {
        let now = time.uptime()
        let listeners = state.withLock { state -> [Signal] in
            let before = (state.quality.isPoor(at: now), state.quality.recoversAt)
            state.quality.note(reading, at: now)
            state.lastLook = now
            switch reading {
            case .roundTrip(let duration), .sample(let duration, _): state.roundTrip = duration
            case .loss, .attempt, .failure: break
            }
            let after = (state.quality.isPoor(at: now), state.quality.recoversAt)
            return after == before ? [] : state.listeners.values + [attention]
        }
        for listener in listeners { listener.raise() }
    }

    /// Adopts other thresholds, and discards the measurements made under the old ones.
    func follow(_ thresholds: PoorNetwork) {
        state.withLock { state in
            guard thresholds != state.quality.thresholds else { return }
            state.quality = NetworkQuality(thresholds)
        }
        attention.raise()
    }

    /// The default route leads over this interface now: readings of another one are void.
    func follow(interface: String?) {
        state.withLock { state in
            guard let interface, interface != state.interface else { return }
            if state.interface != nil { state.quality = NetworkQuality(state.quality.thresholds) }
            state.interface = interface
        }
    }

    // MARK: Verdict

    struct Verdict: Hashable, Sendable {
        let isPoor: Bool
        let complaint: NetworkQuality.Complaint?
        /// Time until the path is rated good again without further bad measurements.
        let recoversIn: Duration?
    }

    var verdict: Verdict {
        let now = time.uptime()
        return state.withLock { state in
            let isPoor = state.quality.isPoor(at: now)
            return Verdict(
                isPoor: isPoor,
                complaint: isPoor ? state.quality.complaint : nil,
                recoversIn: isPoor ? state.quality.recoversAt.map { $0 - now } : nil
            )
        }
    }

    /// The last measurement.
    var roundTrip: Duration? { state.withLock(\.roundTrip) }

    // MARK: Realms

    /// Signals changes to the realm from now on.
    func tell(_ listener: Signal, realm: String) {
        state.withLock { $0.listeners[realm] = listener }
    }

    /// Whether the realm waits for the network to be good.
    func setWaiting(_ isWaiting: Bool, realm: String) {
        let hasChanged = state.withLock { state in
            guard isWaiting else { return state.waiting.remove(realm) != nil }
            return state.waiting.insert(realm).inserted
        }
        if hasChanged { attention.raise() }
    }

    func forget(realm: String) {
        setWaiting(false, realm: realm)
        state.withLock { $0.listeners[realm] = nil }
    }

    // MARK: Probing

    /// Probes while a realm waits for a good network, until the task is cancelled.
    func run(_ probe: () async -> Void) async {
        while !Task.isCancelled {
            guard let pause = pauseBeforeProbe else {
                await attention.wait()
                continue
            }
            // A change of the measurements changes the pause as well.
            if pause > .zero, await attention.wait(atMost: pause, time) { continue }
            guard !Task.isCancelled, (pauseBeforeProbe ?? .seconds(1)) <= .zero else { continue }
            await probe()
            state.withLock { $0.lastLook = time.uptime() }
        }
    }

    private var pauseBeforeProbe: Duration? {
        let now = time.uptime()
        return state.withLock { state in
            guard !state.waiting.isEmpty, state.quality.isPoor(at: now) else { return nil }
            return state.lastLook + state.quality.probePause - now
        }
    }
}

extension NetworkQuality.Complaint: CustomStringConvertible {
    /// For people, as a clause.
    public var description: String {
        switch self {
        case .roundTrip(let duration):
            "a round trip takes \(Int((duration / .milliseconds(1)).rounded())) ms"
        case .loss(let share): "\(Int((share * 100).rounded())) % of the segments are lost"
        case .failures(let count): "\(count) attempts to connect failed or were slow"
        }
    }
}
