import Glibc
import Synchronization

/// The progress of long work.
package struct WorkProgress: Hashable, Sendable {
    /// From 0 to 1; nil if the end is not known.
    package let share: Double?
    /// The work done so far, for people.
    package let text: String

    package init(share: Double?, text: String) {
        self.share = share.map { $0.isFinite ? min(max($0, 0), 1) : 0 }
        self.text = text
    }

    /// - Parameter total: nil or 0 if it is not known.
    package init(_ done: UInt64, of total: UInt64?, text: String) {
        let total = total.flatMap { $0 > 0 ? Double($0) : nil }
        self.init(share: total.map { Double(done) / $0 }, text: text)
    }

    private static let width = 30

    /// A bar, if the end is known.
    var bar: String {
        guard let share else { return text }
        let filled = Int(share * Double(Self.width))
        let bar =
            String(repeating: "#", count: filled)
            + String(repeating: ".", count: Self.width - filled)
        return "[\(bar)] \(percentage) % \(text)"
    }

    var line: String { share == nil ? text : "\(percentage) %, \(text)" }

    /// Rounded down: 100 % is the end.
    private var percentage: Int { Int((share ?? 0) * 100) }
}

/// Shows on standard error how far long work is: one line that is replaced on a terminal, elsewhere a line
/// every ten seconds.
package final class ProgressDisplay: Sendable {
    private let isTerminal: Bool
    private let now: @Sendable () -> ContinuousClock.Instant
    private let write: @Sendable (String) -> Void
    private let started: ContinuousClock.Instant
    private let state: Mutex<State>

    private struct State {
        /// The next time to show something.
        var next: ContinuousClock.Instant
        var isShown = false
    }

    package convenience init() {
        self.init(isTerminal: isatty(STDERR_FILENO) == 1, now: { .now }) { text in
            let bytes = Array(text.utf8)
            _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
        }
    }

    init(
        isTerminal: Bool,
        now: @escaping @Sendable () -> ContinuousClock.Instant,
        write: @escaping @Sendable (String) -> Void
    ) {
        self.isTerminal = isTerminal
        self.now = now
        self.write = write
        self.started = now()
        // Short work shows nothing where lines stay.
        let first = isTerminal ? started : started + Self.period(isTerminal: false)
        self.state = Mutex(State(next: first))
    }

    private static func period(isTerminal: Bool) -> Duration {
        isTerminal ? .milliseconds(200) : .seconds(10)
    }

    /// Shows it, unless something was shown a moment ago.
    package func show(_ progress: @autoclosure () -> WorkProgress) {
        let now = now()
        state.withLock { state in
            guard now >= state.next else { return }
            state.next = now + Self.period(isTerminal: isTerminal)
            state.isShown = true
            let progress = progress()
            write(isTerminal ? "\r\u{1b}[K\(progress.bar)" : "\(progress.line)\n")
        }
    }

    /// Units since the start, and in each second, such as `1200 documents, 300/s`.
    ///
    /// - Parameter unit: the noun for one.
    package func rate(_ count: Int, _ unit: String) -> String {
        let seconds = max(1, (now() - started).components.seconds)
        return "\(Counted(count, unit)), \(Int64(count) / seconds)/s"
    }

    /// Clears the terminal's line, for what is printed next.
    package func end() {
        state.withLock { state in
            guard isTerminal, state.isShown else { return }
            state.isShown = false
            write("\r\u{1b}[K")
        }
    }
}
