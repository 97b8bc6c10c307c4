import Glibc

/// Lines for whoever reads along: each is written when it is there, not when a buffer is full.
enum StandardOutput {
    static func print(_ line: String) {
        Swift.print(line)
        fflush(nil)
    }
}
