/// The part of the offline limit that a realm has been without contact.
enum OfflineShare {
    /// - Parameters:
    ///   - last: the last contact, in milliseconds since 1970.
    ///   - now: the same.
    static func used(of limit: Duration, since last: Int64, at now: Int64) -> Double {
        // A clock that was put back shows a contact in the future.
        guard limit > .zero, now > last else { return 0 }
        return (Double(now) - Double(last)) / 1_000 / (limit / .seconds(1))
    }
}
