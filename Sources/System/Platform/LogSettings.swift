package import Logging
import Synchronization

/// The log levels of the whole process; they can change while it runs.
package final class LogSettings: Sendable {
    private struct State {
        var level: LogLevel
        var categories: [String: LogLevel]
        var showsValues: Bool
    }

    private let state: Mutex<State>

    /// - Parameter showsValues: whether the log may hold keys and values of users' objects.
    package init(
        level: LogLevel,
        categories: [String: LogLevel] = [:],
        showsValues: Bool = true
    ) {
        self.state = Mutex(
            State(level: level, categories: categories, showsValues: showsValues)
        )
    }

    package func set(level: LogLevel, categories: [String: LogLevel], showsValues: Bool = true) {
        state.withLock {
            $0 = State(level: level, categories: categories, showsValues: showsValues)
        }
    }

    var showsValues: Bool { state.withLock(\.showsValues) }

    /// Changes one category's level, or the default.
    package func set(_ level: LogLevel, of category: String?) {
        state.withLock { state in
            if let category {
                state.categories[category] = level
            } else {
                state.level = level
            }
        }
    }

    package var current: (level: LogLevel, categories: [String: LogLevel]) {
        state.withLock { ($0.level, $0.categories) }
    }

    /// The threshold of a category: its own, else that of the longest dotted prefix, else the default.
    package func threshold(of category: String) -> Logger.Level? {
        state.withLock { state in
            var name = Substring(category)
            while !name.isEmpty {
                if let level = state.categories[String(name)] { return level.threshold }
                name = name.lastIndex(of: ".").map { name[..<$0] } ?? ""
            }
            return state.level.threshold
        }
    }
}
