import FoundationEssentials
package import Scheduling

extension WallTime {
    /// The clock of this machine.
    package static func now() -> WallTime {
        WallTime(millisecondsSince1970: Int64(Date.now.timeIntervalSince1970 * 1000))
    }
}
