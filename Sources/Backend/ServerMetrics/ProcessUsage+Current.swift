import Glibc
import Platform

extension ProcessUsage {
    /// Of this process, from the kernel. Values that cannot be read are zero.
    package static func current() -> ProcessUsage {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let statistics = Self.statistics
        return ProcessUsage(
            cpuSeconds: usage.ru_utime.inSeconds + usage.ru_stime.inSeconds,
            residentBytes: statistics.residentPages &* UInt64(clamping: value(of: _SC_PAGESIZE)),
            openDescriptors: count(of: "/proc/self/fd"),
            descriptorLimit: UInt64(limit.rlim_cur),
            threads: count(of: "/proc/self/task"),
            startTime: bootTime + Double(statistics.startTicks) / Double(value(of: _SC_CLK_TCK))
        )
    }

    /// Fields of `/proc/self/stat`, which follow the program's name in parentheses.
    private static var statistics: (startTicks: UInt64, residentPages: UInt64) {
        let text = KernelFile.text(at: "/proc/self/stat") ?? ""
        guard let end = text.lastIndex(of: ")") else { return (0, 0) }
        let fields = text[text.index(after: end)...].split(separator: " ")
        // The state is field 3 of the page proc(5).
        guard fields.count > 21 else { return (0, 0) }
        return (UInt64(fields[19]) ?? 0, UInt64(fields[21]) ?? 0)
    }

    /// Seconds since 1970.
    private static var bootTime: Double {
        let lines = (KernelFile.text(at: "/proc/stat") ?? "").split(separator: "\n")
        let line = lines.first { $0.hasPrefix("btime ") }
        return line.flatMap { Double($0.dropFirst(6)) } ?? 0
    }

    private static func value(of name: Int) -> Int { max(1, sysconf(Int32(name))) }

    private static func count(of directory: String) -> Int {
        guard let stream = opendir(directory) else { return 0 }
        defer { closedir(stream) }
        var count = 0
        while readdir(stream) != nil { count += 1 }
        // Without the entries . and ..
        return max(0, count - 2)
    }
}

extension timeval {
    fileprivate var inSeconds: Double { Double(tv_sec) + Double(tv_usec) / 1e6 }
}
