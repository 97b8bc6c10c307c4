import FoundationEssentials
import Scheduling

/// The batteries of this machine, from `/sys/class/power_supply`.
struct PowerSupplies {
    let directory: String

    /// All batteries together; nil if there is none.
    ///
    /// Those of mice and headsets (`scope` is `Device`) do not count.
    var battery: Conditions.Battery? {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        let batteries = names.sorted().filter {
            value("type", of: $0) == "Battery" && value("scope", of: $0) != "Device"
                && value("present", of: $0) != "0"
        }
        let charges = batteries.compactMap { charge(of: $0) }
        guard !charges.isEmpty else { return nil }
        return Conditions.Battery(
            charge: charges.reduce(0, +) / Double(charges.count),
            isDischarging: batteries.contains { value("status", of: $0) == "Discharging" }
        )
    }

    /// From 0 to 1; some drivers report energy or charge instead of a percentage.
    private func charge(of name: String) -> Double? {
        if let percent = number("capacity", of: name) { return min(max(percent / 100, 0), 1) }
        for quantity in ["energy", "charge"] {
            if let now = number("\(quantity)_now", of: name),
                let full = number("\(quantity)_full", of: name), full > 0
            {
                return min(max(now / full, 0), 1)
            }
        }
        return nil
    }

    private func number(_ attribute: String, of name: String) -> Double? {
        value(attribute, of: name).flatMap(Double.init)
    }

    private func value(_ attribute: String, of name: String) -> String? {
        let path = "\(directory)/\(name)/\(attribute)"
        let text = KernelFile.text(at: path)
        return text.map { $0.filter { !$0.isWhitespace } }
    }
}
