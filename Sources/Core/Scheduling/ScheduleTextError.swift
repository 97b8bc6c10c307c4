/// Why a text is no window or no cron expression, and what to write instead; both as clauses.
package struct ScheduleTextError: Error, Hashable, Sendable {
    package let problem: String
    package let remedy: String
}
