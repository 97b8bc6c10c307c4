import FoundationEssentials
import Glibc

/// Facts about this machine that log-ins tell and realm files refer to.
package struct MachineDescription: Sendable {
    /// As the kernel knows it.
    package let name: String
    /// Of `/etc/machine-id`; empty where the file is missing.
    package let machineID: String
    /// Name and release of the system, never empty.
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
