import Changesets

/// Measures how fast changesets are written, parsed and written again, beside copying their bytes.
@main
struct CodecBenchmark {
    static let objects = 100_000

    static func main() {
        let (bytes, writing) = measure { write(objects: objects) }
        let (changeset, parsing) = measure { parse(bytes) }
        let (encoded, encoding) = measure { changeset.encoded() }
        let (_, copying) = measure { copy(bytes) }
        precondition(encoded.count == bytes.count, "writing again gives as many bytes")

        let size = Double(bytes.count) / 1e6
        print(
            "\(objects) objects of 10 fields, \(changeset.instructions.count) instructions, ",
            terminator: ""
        )
        print("\(bytes.count >> 20) MiB")
        for (name, time) in [
            ("write", writing), ("parse", parsing), ("write again", encoding),
            ("copy bytes", copying),
        ] {
            let seconds = time / .seconds(1)
            let rate = Double(changeset.instructions.count) / seconds
            print(
                "\(padded(name, 12)) \(padded(String(Int(size / seconds)), 6)) MB/s",
                "\(padded(String(Int(rate / 1000)), 7)) thousand instructions/s",
                "  \(Int(time / copying)) times the copy"
            )
        }
    }

    /// The best of five runs, and the result of the last.
    private static func measure<Result>(_ body: () -> Result) -> (Result, Duration) {
        let clock = ContinuousClock()
        var result = body()
        var best = Duration.seconds(3600)
        for _ in 0..<5 {
            let time = clock.measure { result = body() }
            best = min(best, time)
        }
        return (result, best)
    }

    private static func write(objects: Int) -> [UInt8] {
        var writer = ChangesetWriter()
        for number in 0..<Int64(objects) {
            let object = ObjectReference(className: "Item", key: .int(number))
            writer.createObject(object)
            for (field, value) in fields(of: number) {
                writer.update(object, field, to: .scalar(value))
            }
        }
        return writer.bytes
    }

    private static func fields(of number: Int64) -> [(Text, Scalar)] {
        [
            ("a", .int(number * 3)), ("b", .int(-number)), ("c", .string(Text("name \(number)"))),
            ("d", .string(Text("text of object number \(number)"))),
            ("e", .double(DoubleBits(Double(number) / 7))), ("f", .bool(number % 2 == 0)),
            ("g", .timestamp(Timestamp(seconds: number, nanoseconds: 5) ?? .epoch)),
            ("h", .null), ("i", .binary([UInt8](repeating: 7, count: 32))),
        ]
    }

    private static func parse(_ bytes: [UInt8]) -> Changeset {
        do {
            return try Changeset(decoding: bytes)
        } catch {
            preconditionFailure("what was written parses: \(error)")
        }
    }

    @inline(never)
    private static func copy(_ bytes: [UInt8]) -> [UInt8] {
        var copy = [UInt8]()
        copy.reserveCapacity(bytes.count)
        copy.append(contentsOf: bytes)
        return copy
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
