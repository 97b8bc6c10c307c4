import FoundationEssentials
import Glibc
import Subprocess
import TestSupport
import Testing

#if canImport(System)
    import System
#else
    import SystemPackage
#endif

/// Two hosts in network namespaces of their own, and a link between them that can be made bad.
struct BadLink {
    /// Of the second host, as the first one sees it.
    static let farAddress = "10.98.0.2"
    private let commands: FileDescriptor
    private let answers: String
    /// Runs programs on the first host, and on the second.
    let near: [String]
    let far: [String]

    /// Treatment of packets, in each direction.
    struct Quality {
        var delayInMilliseconds = 0
        var lossInPercent = 0
        /// 0 for no limit.
        var rateInKilobits = 0
    }

    static let script =
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().path
        + "/Tools/bad-link.py"

    /// Whether this machine can make one, and if not, why.
    static let obstacle: String? = {
        guard getuid() == 0 else { return "it needs root" }
        for tool in ["/usr/bin/python3", "/usr/bin/nsenter", "/usr/sbin/ip"]
        where access(tool, X_OK) != 0 { return "\(tool) is missing" }
        guard access("/dev/net/tun", R_OK | W_OK) == 0 else { return "there is no /dev/net/tun" }
        return nil
    }()

    /// Lends one to the body; nil, with the reason as a message, where the kernel forbids it.
    static func with(
        directory: String,
        _ body: (BadLink) async throws -> Void
    ) async throws {
        let answers = "\(directory)/link.out"
        let (reading, writing) = try FileDescriptor.pipe()
        // Only our end may keep the pipe open: its end is how the script is told to go.
        _ = fcntl(writing.rawValue, F_SETFD, FD_CLOEXEC)
        _ = try await Subprocess.run(
            .path("/usr/bin/python3"),
            arguments: Arguments([script]),
            input: .fileDescriptor(reading, closeAfterSpawningProcess: true),
            output: .fileDescriptor(
                try FilePath(answers).openedForAppending(),
                closeAfterSpawningProcess: true
            ),
            error: .discarded
        ) { _ in
            defer { try? writing.close() }
            var keepers: [Int] = []
            let hasAnswered = await eventually {
                let lines = Self.lines(of: answers)
                keepers = (lines.first ?? "").split(separator: " ").compactMap { Int($0) }
                return lines.count > 1
            }
            guard hasAnswered, keepers.count == 2 else {
                print("no bad link on this machine: \(Self.lines(of: answers))")
                return
            }
            let prefixes = keepers.map { ["/usr/bin/nsenter", "--net=/proc/\($0)/ns/net"] }
            try await body(
                BadLink(commands: writing, answers: answers, near: prefixes[0], far: prefixes[1])
            )
        }
    }

    func become(_ quality: Quality) async throws {
        try await obey(
            "set \(quality.delayInMilliseconds) \(quality.lossInPercent) \(quality.rateInKilobits)"
        )
    }

    func goDown() async throws { try await obey("down") }
    func comeUp() async throws { try await obey("up") }

    private func obey(_ command: String) async throws {
        let before = Self.lines(of: answers).count
        _ = try commands.writeAll("\(command)\n".utf8)
        let isDone = await eventually { Self.lines(of: answers).count > before }
        try #require(isDone, "\(command)")
    }

    /// Whole lines only.
    private static func lines(of file: String) -> [Substring] {
        let data = FileManager.default.contents(atPath: file) ?? Data()
        return String(decoding: data, as: UTF8.self).split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
    }
}
