/// The part of a bootstrap that has been sent, 0 ... 1 in steps of a ten-thousandth (wire protocol,
/// 6.2).
package struct ProgressEstimate: Hashable, Sendable {
    package let tenThousandths: Int

    /// Nil outside 0 ... 10 000.
    package init?(tenThousandths: Int) {
        guard 0...10_000 ~= tenThousandths else { return nil }
        self.tenThousandths = tenThousandths
    }

    private init(unchecked tenThousandths: Int) {
        self.tenThousandths = tenThousandths
    }

    package static let none = ProgressEstimate(unchecked: 0)
    package static let complete = ProgressEstimate(unchecked: 10_000)

    /// Reads `0`, `1`, `0.25`; digits beyond the fourth are dropped.
    init?(text: some Collection<UInt8>) {
        let parts = text.split(
            separator: UInt8(ascii: "."),
            maxSplits: 1,
            omittingEmptySubsequences: false
        )
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(digits.contains) }) else {
            return nil
        }
        let whole = parts[0].drop { $0 == digits.lowerBound }
        guard whole.isEmpty || whole.elementsEqual([digits.lowerBound + 1]) else { return nil }
        let fraction = parts.count == 2 ? parts[1] : parts[0].prefix(0)
        var value = 0
        for position in 0..<4 {
            let digit = fraction.dropFirst(position).first ?? digits.lowerBound
            value = value * 10 + Int(digit - digits.lowerBound)
        }
        if !whole.isEmpty {
            // One, and nothing larger.
            guard fraction.allSatisfy({ $0 == digits.lowerBound }) else { return nil }
            value = 10_000
        }
        self.tenThousandths = value
    }

    /// The shortest decimal text.
    var text: String {
        guard 1..<10_000 ~= tenThousandths else { return tenThousandths == 0 ? "0" : "1" }
        var digits = String(tenThousandths + 10_000).dropFirst()
        while digits.last == "0" { digits.removeLast() }
        return "0." + digits
    }
}
