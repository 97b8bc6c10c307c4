/// The server's source of the time of day.
package struct WallClock: Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    package let millisecondsSince1970: @Sendable () -> Int64

    package init(millisecondsSince1970: @escaping @Sendable () -> Int64) {
        self.millisecondsSince1970 = millisecondsSince1970
    }

    package var secondsSince1970: Int64 { millisecondsSince1970() / 1000 }
}
