import Glibc

/// Files of a crashed process's memory: with tokens and passwords in it.
package enum CoreDumps {
    /// Forbids them for this process and for the programs that it starts.
    package static func forbid() {
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(CInt(RLIMIT_CORE.rawValue), &limit)
    }
}
