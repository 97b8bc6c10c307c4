import Coordination
import Scheduling
import SyncClient
import Synchronization

/// What one connection tells of the way to its server, judged for all realms that use it.
///
/// While one of them is paused because of it, and nothing is connected, it has the way probed: otherwise
/// nobody would notice that it is good again.
final class NetworkQualityMonitor: Sendable {
    private struct State {
        var quality: NetworkQuality
        var interface: String?
        /// Realms that are paused until the network is good.
        var waiting: Set<String> = []
        /// Who decides anew when the verdict changes, by realm.
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

    /// Goes on by other thresholds; what was measured so far says nothing about them.
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
        /// After which it turns good by itself, if nothing bad is measured.
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

    /// As it was measured last.
    var roundTrip: Duration? { state.withLock(\.roundTrip) }

    // MARK: Realms

    /// Tells the realm of changes from now on.
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

    /// Probes while somebody waits for a good network, until the task is cancelled.
    func run(_ probe: () async -> Void) async {
        while !Task.isCancelled {
            guard let pause = pauseBeforeProbe else {
                await attention.wait()
                continue
            }
            // A change of what is known changes the pause as well.
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
