import CLinux
import Glibc

/// A running program, leader of its own process group, with pipes from its outputs.
///
/// It ends with its value: the rest of the group is killed, and the process reaped.
struct ChildProcess: ~Copyable {
    let identifier: pid_t
    let output: Int32
    let errors: Int32
    /// Readable when the process has ended; -1 if the kernel does not support it.
    let ending: Int32

    /// Starts the program; its standard input is a file in memory, so nothing has to feed it.
    init(
        _ command: [String],
        environment: [String],
        input: [UInt8]
    ) throws(ProgramFailure) {
        let program = command.first ?? ""
        func failure(_ code: Int32) -> ProgramFailure {
            .cannotStart(program: program, reason: String(cString: strerror(code)))
        }
        let memory = linux_memfd_create("request")
        guard memory >= 0 else { throw failure(errno) }
        defer { close(memory) }
        guard Self.fill(memory, with: input) else { throw failure(errno) }
        var outputs: [Int32] = [-1, -1]
        var errorOutputs: [Int32] = [-1, -1]
        guard linux_pipe(&outputs) == 0 else { throw failure(errno) }
        defer { close(outputs[1]) }
        guard linux_pipe(&errorOutputs) == 0 else {
            close(outputs[0])
            throw failure(errno)
        }
        defer { close(errorOutputs[1]) }
        var child: pid_t = 0
        let code = Self.withStrings(command) { arguments in
            Self.withStrings(environment) { variables in
                linux_spawn(
                    &child,
                    arguments,
                    variables,
                    memory,
                    outputs[1],
                    errorOutputs[1]
                )
            }
        }
        guard code == 0 else {
            close(outputs[0])
            close(errorOutputs[0])
            throw failure(code)
        }
        for reader in [outputs[0], errorOutputs[0]] {
            _ = fcntl(reader, F_SETFL, fcntl(reader, F_GETFL) | O_NONBLOCK)
        }
        self.identifier = child
        self.output = outputs[0]
        self.errors = errorOutputs[0]
        self.ending = linux_pidfd_open(child)
    }

    deinit {
        // The leader is not reaped yet, so its PID is still that of its group.
        kill(-identifier, SIGKILL)
        waitpid(identifier, nil, 0)
        close(output)
        close(errors)
        if ending >= 0 { close(ending) }
    }

    func signal(_ number: Int32) {
        kill(-identifier, number)
    }

    /// The ending of the process; nil while it runs. Does not reap it.
    func status() -> ProgramOutcome.Ending? {
        var information = siginfo_t()
        let found = waitid(P_PID, id_t(identifier), &information, WEXITED | WNOHANG | WNOWAIT)
        guard found == 0, information.si_signo == SIGCHLD else { return nil }
        let status = information._sifields._sigchld.si_status
        return information.si_code == CLD_EXITED ? .exited(status) : .signaled(status)
    }

    // Lends the strings as C expects them: an array of pointers with a null at its end.

    private static func fill(_ descriptor: Int32, with input: [UInt8]) -> Bool {
        var rest = input[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return lseek(descriptor, 0, SEEK_SET) == 0
    }

    /// Lends the strings as C wants them: an array of pointers with a null at its end.
    private static func withStrings<Result>(
        _ strings: [String],
        _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }
}
