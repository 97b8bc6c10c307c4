import Glibc

/// The process's limit of open file descriptors.
package enum DescriptorLimit {
    /// Raises the soft limit to the hard one, and returns the limit that holds then. The usual soft limit of 1 024
    /// is for programs that call select(2).
    @discardableResult
    package static func raise() -> Int {
        var limit = rlimit()
        let kind = CInt(RLIMIT_NOFILE.rawValue)
        guard getrlimit(kind, &limit) == 0 else { return .max }
        let soft = limit.rlim_cur
        limit.rlim_cur = limit.rlim_max
        if setrlimit(kind, &limit) != 0 { limit.rlim_cur = soft }
        return Int(clamping: limit.rlim_cur)
    }
}
