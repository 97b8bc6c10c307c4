import FoundationEssentials

/// How many seeds a simulation is run with; `REALM_SEEDS` asks for more.
enum Seeds {
    static func some(_ count: UInt64) -> Range<UInt64> {
        let wanted = ProcessInfo.processInfo.environment["REALM_SEEDS"].flatMap(UInt64.init)
        return 0..<(wanted ?? count)
    }
}
