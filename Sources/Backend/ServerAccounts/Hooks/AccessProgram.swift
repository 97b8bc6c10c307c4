import Coordination
package import JSON
package import Logging
import Programs
package import Scopes
package import ServerConfig
package import ServerStore
import Synchronization

/// Asks the operator's program who may read and write which partition (moving an app, 13, N2).
///
/// A run of the program gets all questions that wait, as JSON lines, and answers each of them. One run follows
/// the other. Decisions count for a while. While the program fails nothing is decided, so that access is never
/// wider than it says; it is started again after a growing delay.
package actor AccessProgram {
    /// The program has not decided: its failure is in the log.
    package struct Undecided: Error, Hashable, CustomStringConvertible {
        package enum Reason: Hashable, Sendable {
            case failed
            case overloaded
        }

        package let reason: Reason

        package var description: String {
            switch reason {
            case .failed: "the program that decides on access fails; see its message in the log"
            case .overloaded: "too many decisions on access wait"
            }
        }
    }

    /// The user that a question is about.
    package struct Subject: Sendable {
        let user: User
        let customData: JSONValue?

        /// - Parameter customData: the user's own object, without type tags; nil if there is none.
        package init(_ user: User, customData: JSONValue?) {
            self.user = user
            self.customData = customData
        }
    }

    private final class Waiting: Sendable {
        let key: AccessCache.Key
        let question: AccessQuestion
        let outcome = Promise<Result<PartitionAccess, Undecided>>()

        init(_ key: AccessCache.Key, _ question: AccessQuestion) {
            self.key = key
            self.question = question
        }
    }

    package nonisolated let configuration: AccessProgramConfiguration
    private let app: AppID
    private let clock: any Clock<Duration>
    private let logger: Logger
    private let run: @Sendable ([UInt8]) async throws(ProgramFailure) -> [UInt8]

    private struct Changes {
        var concernsAll = false
        var users: Set<UserID> = []
    }

    /// Not applied yet.
    private nonisolated let changes = Mutex(Changes())
    private var cache: AccessCache
    /// In the order of arrival; those of the running program come first.
    private var waiting: [Waiting] = []
    /// The same question is asked once, unless something has changed since.
    private var known: [AccessCache.Key: Waiting] = [:]
    /// Counts changes: decisions on questions of before are not kept.
    private var generation = 0
    private var atOnce = mostAtOnce
    /// The present delay between failing runs; nil while the program works.
    private var delay: Duration?
    /// Whether it is not asked now, because it has failed.
    private var isPaused = false
    private let questions = Signal()

    static let mostAtOnce = 256
    static let mostWaiting = 4096
    static let mostRemembered = 65_536
    /// Before the second attempt; doubled before each further one.
    static let firstDelay = Duration.seconds(1)
    static let longestDelay = Duration.seconds(60)

    package init(
        _ configuration: AccessProgramConfiguration,
        of app: AppID,
        clock: any Clock<Duration>,
        logger: Logger
    ) {
        let hook = configuration.hook
        self.init(configuration, of: app, clock: clock, logger: logger) {
            questions throws(ProgramFailure) in
            try await Program(
                command: hook.command,
                environment: hook.environment,
                timeout: hook.timeout
            ).output(input: questions)
        }
    }

    /// With a program that a test supplies.
    init(
        _ configuration: AccessProgramConfiguration,
        of app: AppID,
        clock: any Clock<Duration>,
        logger: Logger,
        run: @escaping @Sendable ([UInt8]) async throws(ProgramFailure) -> [UInt8]
    ) {
        self.configuration = configuration
        self.app = app
        self.clock = clock
        self.logger = logger
        self.cache = AccessCache(lifetime: configuration.lifetime, limit: Self.mostRemembered)
        self.run = run
        self.elapsed = clock.reading
    }

    private let elapsed: @Sendable () -> Duration
    private var now: Duration { elapsed() }

    /// The decision on a user and a partition.
    ///
    /// - Parameter subject: reads the user, nil if there is none; called only if no decision counts.
    /// - Throws: `Undecided`, and the errors of `subject`.
    package func access(
        of user: UserID,
        to partition: Partition,
        _ subject: @Sendable () async throws -> Subject?
    ) async throws -> PartitionAccess {
        forgetChanged()
        let key = AccessCache.Key(user: user, partition: partition)
        if let known = cache.access(key, at: now) { return known }
        guard let subject = try await subject() else { return .nothing }
        if let known = cache.access(key, at: now) { return known }
        return try await ask(
            AccessQuestion(
                user: subject.user,
                customData: subject.customData,
                partition: partition
            ),
            key
        )
    }

    private func ask(
        _ question: AccessQuestion,
        _ key: AccessCache.Key
    ) async throws(Undecided) -> PartitionAccess {
        guard !isPaused else { throw Undecided(reason: .failed) }
        if let asked = known[key] { return try await asked.outcome.value.get() }
        guard waiting.count < Self.mostWaiting else { throw Undecided(reason: .overloaded) }
        let asked = Waiting(key, question)
        waiting.append(asked)
        known[key] = asked
        questions.raise()
        return try await asked.outcome.value.get()
    }

    // MARK: Changes

    /// Decisions on a user, or on all of them, do not count any more: rules or users have changed.
    package nonisolated func noteChange(of user: UserID?) {
        changes.withLock { changes in
            if let user { changes.users.insert(user) } else { changes.concernsAll = true }
        }
    }

    private func forgetChanged() {
        let changed = changes.withLock { changes in
            defer { changes = Changes() }
            return changes
        }
        guard changed.concernsAll || !changed.users.isEmpty else { return }
        generation += 1
        if changed.concernsAll {
            cache.removeAll()
            known = [:]
        } else {
            for user in changed.users { cache.remove(user) }
            known = known.filter { !changed.users.contains($0.key.user) }
        }
    }

    // MARK: Runs

    /// Asks the program until the task is cancelled. Called once.
    package func serve() async {
        while !Task.isCancelled {
            guard !waiting.isEmpty else {
                await questions.wait()
                continue
            }
            await askProgram()
        }
        isPaused = true
        denyAll()
    }

    private func denyAll() {
        for asked in waiting { asked.outcome.keep(.failure(Undecided(reason: .failed))) }
        waiting = []
        known = [:]
    }

    private func askProgram() async {
        let asked = Array(waiting.prefix(atOnce))
        let begun = generation
        let outcome = await decisions(on: asked.map(\.question))
        waiting.removeFirst(asked.count)
        for asked in asked where known[asked.key] === asked { known[asked.key] = nil }
        switch outcome {
        case .success(let decisions):
            noteSuccess()
            forgetChanged()
            for (asked, access) in zip(asked, decisions) {
                if generation == begun { cache.note(access, of: asked.key, at: now) }
                asked.outcome.keep(.success(access))
            }
        case .failure(let failure):
            for asked in asked { asked.outcome.keep(.failure(Undecided(reason: .failed))) }
            await rest(after: failure)
        }
    }

    private struct Failure: Error {
        let reason: String
    }

    private func decisions(
        on questions: [AccessQuestion]
    ) async -> Result<[PartitionAccess], Failure> {
        var input: [UInt8] = []
        do {
            for (position, question) in questions.enumerated() {
                input += try question.line(position + 1, of: app)
            }
            let output = try await run(input)
            guard let decisions = AccessDecisions.read(output, count: questions.count) else {
                return .failure(Failure(reason: "it did not answer each question with one line"))
            }
            return .success(decisions)
        } catch {
            return .failure(Failure(reason: "\(error)"))
        }
    }

    private func noteSuccess() {
        atOnce = min(atOnce * 2, Self.mostAtOnce)
        guard delay != nil else { return }
        delay = nil
        logger.notice("the program that decides on access works again", metadata: metadata)
    }

    /// Tells of the first failure in a row. The next runs get one question each, so that one that the program
    /// cannot answer does not keep the others from their decisions.
    private func rest(after failure: Failure) async {
        atOnce = 1
        let pause = delay.map { min($0 * 2, Self.longestDelay) } ?? Self.firstDelay
        if delay == nil {
            var metadata = metadata
            metadata["code"] = "server.access"
            metadata["reason"] = "\(failure.reason)"
            logger.error("the program that decides on access failed", metadata: metadata)
        }
        delay = pause
        isPaused = true
        denyAll()
        try? await clock.sleep(for: pause)
        isPaused = false
    }

    /// Questions that wait, or that the program is asked now.
    var waitingCount: Int { waiting.count }

    /// Whether it is not asked now, because it has failed.
    var isAway: Bool { isPaused }

    private var metadata: Logger.Metadata {
        ["app": "\(app)", "program": "\(configuration.hook.command.first ?? "")"]
    }
}

extension Clock where Duration == Swift.Duration {
    /// Reads the time since this call.
    fileprivate var reading: @Sendable () -> Duration {
        let start = now
        return { start.duration(to: now) }
    }
}
