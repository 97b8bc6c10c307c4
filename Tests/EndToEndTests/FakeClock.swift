import FoundationEssentials
import Glibc

/// Lets a program believe in another date (Debian package faketime); how long things last it knows as
/// before.
enum FakeClock {
    private static let library: String? = ["x86_64-linux-gnu", "aarch64-linux-gnu"]
        .map { "/usr/lib/\($0)/faketime/libfaketime.so.1" }
        .first { access($0, R_OK) == 0 }

    static let obstacle: String? =
        library == nil ? "the Debian package faketime is not installed" : nil

    /// A command that executes the one it is given so many seconds from now.
    ///
    /// A shell comes first: the library changes the environment of the process that loads it first, and
    /// Swift finds the arguments of a program beside its untouched environment.
    static func wrapper(offsetInSeconds offset: Int) -> [String] {
        [
            "/usr/bin/env", "LD_PRELOAD=\(library ?? "")",
            "FAKETIME=\(offset < 0 ? "" : "+")\(offset)",
            "FAKETIME_DONT_FAKE_MONOTONIC=1", "/bin/sh", "-c", #"exec "$@""#, "sh",
        ]
    }
}
