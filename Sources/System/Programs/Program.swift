import Coordination
import Glibc

/// An external program: its command, environment and time limit.
///
/// There is no shell, and none of the caller's environment or descriptors reaches it.
package struct Program: Sendable {
    let command: [String]
    let environment: [String: String]
    let timeout: Duration
    /// More on standard output is a failure.
    let outputLimitInBytes: Int

    /// `command` is the program's path and its arguments.
    package init(
        command: [String],
        environment: [String: String] = [:],
        timeout: Duration,
        outputLimitInBytes: Int = 64 << 10
    ) {
        self.command = command
        self.environment = environment
        self.timeout = timeout
        self.outputLimitInBytes = outputLimitInBytes
    }

    /// The environment of every program, unless the configuration says otherwise.
    private static let standardEnvironment = [
        "LANG": "C.UTF-8",
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    ]

    private var variables: [String] {
        Self.standardEnvironment.merging(environment) { $1 }.map { "\($0)=\($1)" }.sorted()
    }

    /// Runs the program to its end, and returns its standard output; throws if it fails.
    package func output(
        input: [UInt8],
        graceTime: Duration = .seconds(2)
    ) async throws(ProgramFailure) -> [UInt8] {
        let outcome = try await run(input: input, graceTime: graceTime)
        switch outcome.ending {
        case .exited(0): return outcome.output
        case .exited(let status): throw .exitStatus(status, errors: outcome.errors)
        case .signaled(let signal): throw .signal(signal, errors: outcome.errors)
        }
    }

    /// Runs the program to its end. It is stopped if it takes too long, writes too much, or the
    /// task is cancelled: SIGTERM to its process group, then after `graceTime` SIGKILL.
    package func run(
        input: [UInt8],
        graceTime: Duration = .seconds(2)
    ) async throws(ProgramFailure) -> ProgramOutcome {
        let wake = WakePipe()
        let result = await withTaskCancellationHandler {
            await BlockingCall.run(label: "program") { runBlocking(input, graceTime, wake) }
        } onCancel: {
            wake.raise()
        }
        return try result.get()
    }

    private func runBlocking(
        _ input: [UInt8],
        _ graceTime: Duration,
        _ wake: WakePipe
    ) -> Result<ProgramOutcome, ProgramFailure> {
        do throws(ProgramFailure) {
            let process = try ChildProcess(command, environment: variables, input: input)
            var watch = ProgramWatch(
                timeout: timeout,
                graceTime: graceTime,
                outputLimitInBytes: outputLimitInBytes
            )
            return .success(try watch.run(process, wake: wake))
        } catch {
            return .failure(error)
        }
    }
}

/// The ending of a program, and its output.
package struct ProgramOutcome: Sendable {
    package enum Ending: Equatable, Sendable {
        case exited(Int32)
        case signaled(Int32)
    }

    package let ending: Ending
    package let output: [UInt8]
    /// The end of standard error, as text.
    package let errors: String
}
