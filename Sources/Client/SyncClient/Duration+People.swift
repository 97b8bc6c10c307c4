extension Duration {
    /// The duration for people: `850ms`, `12s`, `4m 30s`, `2h 5m`.
    package var forPeople: String {
        let milliseconds = max(0, Int64((self / .milliseconds(1)).rounded()))
        if milliseconds < 1_000 { return "\(milliseconds)ms" }
        let seconds = (milliseconds + 500) / 1_000
        let (hours, minutes, rest) = (seconds / 3_600, seconds / 60 % 60, seconds % 60)
        let parts = [(hours, "h"), (minutes, "m"), (rest, "s")].drop { $0.0 == 0 }.prefix(2)
        return parts.filter { $0.0 > 0 }.map { "\($0.0)\($0.1)" }.joined(separator: " ")
    }
}
