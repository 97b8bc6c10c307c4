import FoundationEssentials
import Glibc

/// Facts about the machine that configurations and stores refer to.
package struct Host: Sendable {
    /// As the kernel knows it.
    package let name: String
    /// Of `/etc/machine-id`; empty where the file is missing.
    package let machineID: String
    /// Name and release of the system, never empty.
    package let systemVersion: String
    package let architecture: String

    package static func current() -> Host {
        var names = utsname()
        uname(&names)
        let machineID = try? String(contentsOfFile: "/etc/machine-id", encoding: .utf8)
        return Host(
            name: text(&names.nodename),
            machineID: (machineID ?? "").filter { !$0.isWhitespace },
            systemVersion: text(&names.release),
            architecture: text(&names.machine)
        )
    }

    private static func text<Field>(_ field: inout Field) -> String {
        withUnsafeBytes(of: &field) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}
