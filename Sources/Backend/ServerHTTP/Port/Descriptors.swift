import Glibc

/// The process's limit of open file descriptors.
enum Descriptors {
    /// For the store, programs, the admin socket, and connections that are refused at once.
    static let reserve = 128

    /// The number of the wanted connections that have descriptors; raises the soft limit as far as
    /// needed.
    static func available(forConnections wanted: Int) -> Int {
        var limit = rlimit()
        let kind = CInt(RLIMIT_NOFILE.rawValue)
        guard getrlimit(kind, &limit) == 0 else { return wanted }
        let soft = limit.rlim_cur
        if soft < rlim_t(wanted + reserve) {
            limit.rlim_cur = min(limit.rlim_max, rlim_t(wanted + reserve))
            if setrlimit(kind, &limit) != 0 { limit.rlim_cur = soft }
        }
        let all = Int(clamping: limit.rlim_cur)
        return min(wanted, max(all - reserve, all / 2))
    }
}
