internal import Changesets

/// The state of a realm file that was closed with nothing to do, as text in its lock file: as long as the file has the
/// same traces, an opening need not read it.
///
/// The first lines must be what the reader expects: another program, another configuration, a moved or changed file
/// make the record worthless. The last one is a checksum, since a power cut may leave any part of it.
struct RestRecord {
    let row: RealmStateRow

    private static let format =
        "# The state of the realm file when realm-agent last closed it. Do not edit."

    /// All that must be as it was.
    ///
    /// - Parameters:
    ///   - program: the traces of the executable: another one may prepare files differently.
    ///   - opening: identifies the settings that an opening applies to the file.
    static func head(
        program: FileTrace,
        opening: UInt64,
        file: FileTrace,
        home: String
    ) -> String {
        "\(format)\n\(program.text)\n\(String(opening, radix: 16))\n\(file.text)\n\(home)\n"
    }

    init(row: RealmStateRow) {
        self.row = row
    }

    /// Nil unless the text has the head, and is complete.
    init?(_ bytes: [UInt8], head: String, home: String, owner: RealmOwner) {
        guard bytes.starts(with: head.utf8) else { return nil }
        let lines = bytes[head.utf8.count...].split(
            separator: UInt8(ascii: "\n"),
            omittingEmptySubsequences: false
        )
        guard lines.count == 3, lines[2].isEmpty, let end = lines.first?.endIndex,
            lines[1].elementsEqual(Self.checksum(of: bytes[...end]).utf8)
        else { return nil }
        let words = lines[0].split(separator: UInt8(ascii: " "))
        guard let first = words.first, let instance = Self.bytes(ofHexadecimal: first) else {
            return nil
        }
        let numbers = words.dropFirst().compactMap { UInt64(String(decoding: $0, as: UTF8.self)) }
        guard numbers.count == words.count - 1,
            let row = RealmStateRow(instance: instance, home: home, owner: owner, numbers: numbers)
        else { return nil }
        self.row = row
    }

    func bytes(head: String) -> [UInt8] {
        let numbers = row.numbers.map { " \($0)" }.joined()
        let text = Array("\(head)\(Hexadecimal.text(of: row.instance))\(numbers)\n".utf8)
        return text + Array("\(Self.checksum(of: text[...]))\n".utf8)
    }

    private static func checksum(of bytes: ArraySlice<UInt8>) -> String {
        String(StableHash.value(of: bytes), radix: 16)
    }

    private static func bytes(ofHexadecimal digits: ArraySlice<UInt8>) -> [UInt8]? {
        guard digits.count == 32 else { return nil }
        let bytes = stride(from: digits.startIndex, to: digits.endIndex, by: 2).map {
            UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
        }
        return bytes.contains(nil) ? nil : bytes.compactMap(\.self)
    }
}
