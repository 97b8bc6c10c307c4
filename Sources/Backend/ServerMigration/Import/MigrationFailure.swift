/// The reason why a command did nothing, or stopped (moving an app, 10).
package struct MigrationFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Stable; `docs/errors.md` lists the codes.
    package let code: String
    package let problem: String
    package let remedy: String
    /// 2: nothing was written; 1: a part was; 3: the server must run and does not, or the reverse.
    package let exitStatus: Int32

    package init(_ code: String, _ problem: String, remedy: String, exitStatus: Int32 = 2) {
        self.code = code
        self.problem = problem
        self.remedy = remedy
        self.exitStatus = exitStatus
    }

    package var description: String { "error: \(code): \(problem); \(remedy)" }
}
