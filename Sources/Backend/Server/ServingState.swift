import Synchronization

/// Whether the port accepts clients, as health checks report it.
final class ServingState: Sendable {
    private enum Phase {
        case starting
        case serving
        case stopping
    }

    private let phase = Mutex(Phase.starting)

    func noteListening() {
        phase.withLock { phase in
            if case .starting = phase { phase = .serving }
        }
    }

    func noteStopping() {
        phase.withLock { $0 = .stopping }
    }

    /// Nil while clients are accepted.
    var obstacle: String? {
        switch phase.withLock({ $0 }) {
        case .starting: "the server starts"
        case .serving: nil
        case .stopping: "the server stops"
        }
    }
}
