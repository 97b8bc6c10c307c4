import Glibc

/// Watches a running program: reads its output, and stops it when it must end.
struct ProgramWatch {
    private enum Phase {
        case running
        /// SIGTERM was sent.
        case asked
        /// SIGKILL was sent.
        case killed
    }

    private let timeout: Duration
    private let graceTime: Duration
    private let outputLimitInBytes: Int
    private var phase = Phase.running
    private var deadline: ContinuousClock.Instant
    private var failure: ProgramFailure?
    private var output: [UInt8] = []
    private var errors: [UInt8] = []
    /// The most standard error that a log message can hold.
    private static let errorLimitInBytes = 1024
    /// Between two polls of the process, if the kernel cannot report its end.
    private static let pollInterval = Duration.milliseconds(50)

    init(timeout: Duration, graceTime: Duration, outputLimitInBytes: Int) {
        self.timeout = timeout
        self.graceTime = graceTime
        self.outputLimitInBytes = outputLimitInBytes
        self.deadline = .now + timeout
    }

    /// Blocks until the program has ended.
    mutating func run(
        _ process: borrowing ChildProcess,
        wake: WakePipe
    ) throws(ProgramFailure) -> ProgramOutcome {
        var descriptors = [process.output, process.errors, process.ending, wake.reader].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        var ending = process.status()
        while ending == nil {
            poll(&descriptors, nfds_t(descriptors.count), waitingTime(process))
            if descriptors[3].revents != 0 {
                descriptors[3].fd = -1
                end(process, because: .cancelled)
            }
            if !read(process.output, into: \.output) { descriptors[0].fd = -1 }
            if !read(process.errors, into: \.errors) { descriptors[1].fd = -1 }
            checkOutput(process)
            ending = process.status()
            if ending == nil, ContinuousClock.now >= deadline { advance(process) }
        }
        // Its last output.
        _ = read(process.output, into: \.output)
        readRest(of: process.errors)
        checkOutput(process)
        if let failure { throw failure }
        return ProgramOutcome(
            ending: ending ?? .exited(0),
            output: output,
            errors: String(decoding: errors, as: UTF8.self).trimmed
        )
    }

    // MARK: Ending it

    private mutating func end(_ process: borrowing ChildProcess, because reason: ProgramFailure) {
        guard phase == .running else { return }
        failure = reason
        process.signal(SIGTERM)
        phase = .asked
        deadline = .now + graceTime
    }

    private mutating func advance(_ process: borrowing ChildProcess) {
        switch phase {
        case .running:
            end(process, because: .timedOut(timeout))
        case .asked:
            process.signal(SIGKILL)
            phase = .killed
            deadline = .now + .seconds(3600)
        case .killed:
            // The kernel cannot end the process: it hangs in a device.
            deadline = .now + .seconds(3600)
        }
    }

    private mutating func checkOutput(_ process: borrowing ChildProcess) {
        guard output.count > outputLimitInBytes else { return }
        end(process, because: .tooMuchOutput(limitInBytes: outputLimitInBytes))
        output = []
    }

    // MARK: Reading

    /// Milliseconds until the next check.
    private func waitingTime(_ process: borrowing ChildProcess) -> Int32 {
        let rest = max(.zero, deadline - .now)
        let time = process.ending < 0 ? min(rest, Self.pollInterval) : rest
        // Rounded up, so that the time is really over afterwards.
        return Int32(min(time / .milliseconds(1) + 1, 3_600_000))
    }

    /// Reads what is available; false at the end of the stream.
    private mutating func read(
        _ descriptor: Int32,
        into buffer: WritableKeyPath<Self, [UInt8]>
    ) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            if count < 0 { return errno == EAGAIN }
            if count == 0 { return false }
            keep(chunk[..<count], in: buffer)
            // A program that never stops writing must not block the check of the deadline.
            if buffer == \.output, output.count > outputLimitInBytes { return true }
            if buffer == \.errors { return true }
        }
    }

    /// Reads what an ended program left in the pipe: at most a pipe's capacity, since a child of
    /// its own may still be writing.
    private mutating func readRest(of errors: Int32) {
        var chunk = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = Glibc.read(errors, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            if count > 0 { keep(chunk[..<count], in: \.errors) }
            return
        }
    }

    private mutating func keep(
        _ bytes: ArraySlice<UInt8>,
        in buffer: WritableKeyPath<Self, [UInt8]>
    ) {
        self[keyPath: buffer] += bytes
        guard buffer == \.errors, errors.count > Self.errorLimitInBytes else { return }
        errors.removeFirst(errors.count - Self.errorLimitInBytes)
    }
}

extension String {
    fileprivate var trimmed: String {
        let isSpace = { (character: Character) in character.isWhitespace }
        let head = drop(while: isSpace)
        return String(head.reversed().drop(while: isSpace).reversed())
    }
}
