import FoundationEssentials
import Glibc

/// Describes this machine, for log-ins and realm files.
package struct MachineDescription: Sendable {
    /// The host name.
    package let name: String
    /// Content of `/etc/machine-id`; empty if the file is missing.
    package let machineID: String
    /// Release of the kernel; never empty.
    package let systemVersion: String
    package let architecture: String

    package static func current() -> MachineDescription {
        var names = utsname()
        uname(&names)
        let machineID = try? String(contentsOfFile: "/etc/machine-id", encoding: .utf8)
        return MachineDescription(
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
