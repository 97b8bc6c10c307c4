/// An invalid window or cron expression: problem and remedy, both as clauses.
package struct ScheduleTextError: Error, Hashable, Sendable {
    package let problem: String
    package let remedy: String
}
