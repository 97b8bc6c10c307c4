/// A process of the server, as the others see it in the table `process`.
package struct ProcessRecord: Hashable, Sendable {
    /// A UUID, chosen at the start.
    package let id: String
    package let host: String
    package let pid: Int32
    /// The version of the program.
    package let program: String
    /// Milliseconds since 1970, by the process's clock.
    package let startedAt: Int64

    package init(id: String, host: String, pid: Int32, program: String, startedAt: Int64) {
        self.id = id
        self.host = host
        self.pid = pid
        self.program = program
        self.startedAt = startedAt
    }
}
