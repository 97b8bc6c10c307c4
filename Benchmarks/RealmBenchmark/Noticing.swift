import Glibc
import LocalRealm
import SQLite

/// How soon a commit of another connection is noticed, and what waiting for one costs.
struct Noticing {
    private let path: String
    private let objects: Int

    init(_ folder: Folder, _ objects: Int) {
        self.path = folder.file("captured-1")
        self.objects = objects
    }

    func measure() async throws {
        let realm = try Rows.scalars.open(path)
        let program = try Connection(path: path)
        var captures = try CommitWatcher(path: path).captures().makeAsyncIterator()
        let clock = ContinuousClock()
        var delays: [Duration] = []
        for _ in 0..<300 {
            try program.execute(
                "UPDATE Item SET size = size + 1 WHERE rowid = abs(random() % \(objects)) + 1"
            )
            let committed = clock.now
            _ = await captures.next()
            delays.append(clock.now - committed)
            _ = try realm.drain()
            try await Task.sleep(for: .milliseconds(5))
        }
        delays.sort()
        print("noticed after \(delays[150]), 99 % within \(delays[297])")

        let before = Self.processorTime
        try await Task.sleep(for: .seconds(10))
        print("processor time of idling 10 s: \(Self.processorTime - before)")
    }

    private static var processorTime: Duration {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        let times = [usage.ru_utime, usage.ru_stime]
        return times.reduce(.zero) { $0 + .seconds($1.tv_sec) + .microseconds($1.tv_usec) }
    }
}
