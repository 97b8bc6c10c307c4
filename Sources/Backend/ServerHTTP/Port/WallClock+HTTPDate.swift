import Glibc
import Surroundings

extension WallClock {
    /// The time in a `Date` header, such as "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, 5.6.7): clients
    /// compare their clocks with it.
    var httpDate: String {
        var seconds = time_t(secondsSince1970)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { text in
            // The program always runs in the C locale, which has these names of days and months.
            let count = strftime(text.baseAddress, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
            return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }
}
