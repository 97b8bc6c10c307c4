import FoundationEssentials

/// The number of seeds of a simulation; `REALM_SEEDS` raises it, `REALM_SEED` selects a single one.
package enum Seeds {
    package static func some(_ count: UInt64) -> Range<UInt64> {
        let single = ProcessInfo.processInfo.environment["REALM_SEED"].flatMap(UInt64.init)
        if let single { return single..<(single + 1) }
        let wanted = ProcessInfo.processInfo.environment["REALM_SEEDS"].flatMap(UInt64.init)
        return 0..<(wanted ?? count)
    }
}
