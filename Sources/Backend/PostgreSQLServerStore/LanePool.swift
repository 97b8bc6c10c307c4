internal import DequeModule

/// The rules of a pool of lanes: which job runs, which lane starts, and what happens while the server
/// cannot be reached (server on PostgreSQL, 7.3).
///
/// A lane is a thread with a connection. The pool is a value; `Lanes` runs it.
package struct LanePool<Job> {
    package enum Admission: Hashable, Sendable {
        /// It waits for a lane that is busy.
        case waits
        /// It waits, and a lane that sleeps must be woken for it.
        case wakesLane
        /// It waits, and a lane must be started for it.
        case startsLane
        /// Too many wait already.
        case refused
        case closed
    }

    package enum Turn {
        case run(Job)
        /// Until it is woken.
        case sleep
        /// The lane's thread ends, and so does its connection.
        case end
    }

    private let limits: LaneLimits
    private var jobs: Deque<Job> = []
    private var isClosed = false
    package private(set) var laneCount = 0
    /// Closed, and without a lane.
    package var hasEnded: Bool { isClosed && laneCount == 0 }
    private var sleeping = 0
    /// Wake-ups on their way to lanes that sleep.
    private var wakeUps = 0
    /// No lane starts before.
    private var noLanesBefore: ContinuousClock.Instant?

    package init(limits: LaneLimits = LaneLimits()) {
        precondition(limits.lanes > 0, "a pool has at least one lane")
        self.limits = limits
    }

    /// Jobs that wait for a lane.
    package var waitingCount: Int { jobs.count }

    package mutating func submit(_ job: Job, at now: ContinuousClock.Instant) -> Admission {
        guard !isClosed else { return .closed }
        guard jobs.count < limits.waiting else { return .refused }
        jobs.append(job)
        if sleeping > wakeUps {
            wakeUps += 1
            return .wakesLane
        }
        // As many lanes as jobs are enough: one that starts takes the next job.
        guard laneCount < limits.lanes, mayStart(at: now) else { return .waits }
        laneCount += 1
        return .startsLane
    }

    /// The lane has nothing to do.
    ///
    /// - Parameter isConnected: a lane that found no job before it had a connection ends, so that the pool
    ///   counts as many lanes as it has connections.
    package mutating func nextTurn(isConnected: Bool = true) -> Turn {
        if let job = jobs.popFirst() { return .run(job) }
        guard !isClosed, isConnected else {
            laneCount -= 1
            return .end
        }
        sleeping += 1
        return .sleep
    }

    /// A lane that slept is awake again.
    package mutating func wokeUp() {
        sleeping -= 1
        wakeUps = max(0, wakeUps - 1)
    }

    /// The server has too many connections to give this lane one.
    ///
    /// - Returns: true if other lanes remain: then the lane must end, and they do the job. Without
    ///   them the job fails, and the lane remains.
    package mutating func shrink(
        returning job: Job,
        at now: ContinuousClock.Instant
    ) -> Bool {
        noLanesBefore = now + limits.shrinkTime
        guard laneCount > 1, !isClosed else { return false }
        laneCount -= 1
        jobs.prepend(job)
        return true
    }

    /// The lane's thread could not be started.
    ///
    /// - Returns: a job that no lane is left to do.
    package mutating func laneDidNotStart() -> [Job] {
        laneCount -= 1
        guard laneCount == 0 else { return [] }
        defer { jobs = [] }
        return Array(jobs)
    }

    /// No job is admitted any more, and lanes end when they are done.
    ///
    /// - Returns: the jobs that wait, which get an error, and the number of lanes to wake.
    package mutating func close() -> (jobs: [Job], sleeping: Int) {
        isClosed = true
        let unwoken = sleeping - wakeUps
        wakeUps = sleeping
        defer { jobs = [] }
        return (Array(jobs), unwoken)
    }

    private func mayStart(at now: ContinuousClock.Instant) -> Bool {
        noLanesBefore.map { $0 <= now || laneCount == 0 } ?? true
    }
}
