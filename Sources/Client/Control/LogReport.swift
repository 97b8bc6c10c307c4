/// The log levels in force: the response to `GET /v1/log`.
package struct LogReport: Codable, Sendable, Equatable {
    /// A word such as `info`.
    package let level: String
    /// Categories with a level of their own.
    package let categories: [String: String]

    package init(level: String, categories: [String: String]) {
        self.level = level
        self.categories = categories
    }
}

/// The body of `PUT /v1/log`; the change lasts until the agent ends or reloads its configuration.
package struct LogLevelChange: Codable, Sendable, Equatable {
    package let level: String
    /// Nil for all categories without a level of their own.
    package let category: String?

    package init(level: String, category: String?) {
        self.level = level
        self.category = category
    }
}
