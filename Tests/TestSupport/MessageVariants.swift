/// Texts of peers in which a number is another one.
package enum MessageVariants {
    package static let numbers = [
        "-9223372036854775808", "-9223372036854775807", "-1", "0", "1", "2147483647", "2147483648",
        "4294967295", "4294967296", "9007199254740992", "9223372036854775806",
        "9223372036854775807", "9223372036854775808", "18446744073709551615",
        "18446744073709551616", "99999999999999999999999999", "1e400", "",
    ]

    /// The message with each of its numbers replaced by each extreme; sizes that are announced stay true
    /// unless they are what is replaced.
    package static func of(_ text: String) -> [[UInt8]] {
        let bytes = Array(text.utf8)
        let head = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
        let bodySize = Array("\(bytes.count - head - 1)".utf8)
        var variants: [[UInt8]] = []
        for run in digitRuns(of: bytes) {
            for number in numbers.map({ Array($0.utf8) }) {
                var variant = bytes
                variant.replaceSubrange(run, with: number)
                if run.lowerBound > head {
                    let size = Array("\(bytes.count - head - 1 + number.count - run.count)".utf8)
                    for place in digitRuns(of: Array(variant[..<head])).reversed()
                    where Array(variant[place]) == bodySize {
                        variant.replaceSubrange(place, with: size)
                    }
                }
                variants.append(variant)
            }
        }
        return variants
    }

    private static func digitRuns(of bytes: [UInt8]) -> [Range<Int>] {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        var runs: [Range<Int>] = []
        for (index, byte) in bytes.enumerated() where digits.contains(byte) {
            if let last = runs.last, last.upperBound == index {
                runs[runs.count - 1] = last.lowerBound..<index + 1
            } else {
                runs.append(index..<index + 1)
            }
        }
        return runs
    }
}
