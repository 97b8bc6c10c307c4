import FoundationEssentials

extension Encodable {
    /// As JSON without blanks, members in the order of their names.
    package func json() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try Array(encoder.encode(self))
    }
}
