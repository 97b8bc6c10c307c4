import FoundationEssentials

/// The time of day of one program, moved by a preloaded library; its monotonic time stays.
struct MovedClock {
    private let file: String

    init(in directory: String) throws {
        self.file = "\(directory)/clock"
        try set(offsetInSeconds: 0)
    }

    /// It counts within a tenth of a second, also in a program that runs.
    func set(offsetInSeconds offset: Int) throws {
        try Data("\(offset)\n".utf8).write(to: URL(filePath: file), options: .atomic)
    }

    /// The command that runs a program with this clock.
    var wrapper: [String] {
        let tools = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .path
        return ["/usr/bin/python3", "\(tools)/Tools/with-clock.py", file]
    }
}
