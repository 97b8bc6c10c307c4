import FoundationEssentials
package import Scheduling

extension WallTime {
    /// The clock of this machine.
    package static func now() -> WallTime {
        WallTime(millisecondsSince1970: Int64(Date.now.timeIntervalSince1970 * 1000))
    }

    /// An instant such as `2026-11-20T22:30:00Z`, with fractions of a second or without; nil for another
    /// text, and for times outside of the years 1970 to 9999.
    package init?(iso8601 text: String) {
        let style = Date.ISO8601FormatStyle()
        let fractional = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        guard let date = (try? style.parse(text)) ?? (try? fractional.parse(text)) else {
            return nil
        }
        let seconds = date.timeIntervalSince1970
        guard (0..<253_402_300_800).contains(seconds) else { return nil }
        self.init(millisecondsSince1970: Int64((seconds * 1000).rounded()))
    }
}
