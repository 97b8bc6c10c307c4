/// A line of the report: how long something took, beside plain SQLite with the same rows.
struct Report {
    let objects: Int
    let bare: Duration

    func print(_ name: String, _ time: Duration, objects: Int? = nil, instructions: Int? = nil) {
        let objects = objects ?? self.objects
        let perObject = time / .nanoseconds(1) / Double(objects)
        let ratio = perObject / (bare / .nanoseconds(1) / Double(self.objects))
        var line = name + String(repeating: " ", count: max(1, 44 - name.count))
        line += "\(Int(1_000_000 / perObject)) thousand objects/s, "
        line += "\(Int(ratio * 100)) % of the bare inserts' time"
        if let instructions {
            line +=
                ", \(Int(Double(instructions) / (time / .seconds(1)) / 1000)) thousand instructions/s"
        }
        Swift.print(line)
    }
}

func timed(_ body: () throws -> Void) rethrows -> Duration {
    try ContinuousClock().measure(body)
}
