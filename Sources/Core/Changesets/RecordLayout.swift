/// The positions of a changeset's records, as far as its re-encoding depends on them (changesets spec, 9).
struct RecordLayout: Sendable {
    /// Whether the encoder would write each record with the same bytes.
    var isReencodedAlike = true
    /// The end of the intern records before the first instruction.
    private var instructionStart = 0
    /// Intern records behind it, neighbours joined.
    private var scatteredInternRecords: [Range<Int>] = []

    mutating func addInternRecord(_ record: Range<Int>, isLeading: Bool) {
        guard !isLeading else { return instructionStart = record.upperBound }
        guard let last = scatteredInternRecords.last, last.upperBound == record.lowerBound else {
            return scatteredInternRecords.append(record)
        }
        let joined = last.lowerBound..<record.upperBound
        scatteredInternRecords[scatteredInternRecords.count - 1] = joined
    }

    /// The changeset with all its strings in front, if each record is written as the encoder does.
    func reencoded(_ bytes: [UInt8]) -> [UInt8] {
        guard !scatteredInternRecords.isEmpty else { return bytes }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        result += bytes[..<instructionStart]
        for record in scatteredInternRecords { result += bytes[record] }
        var start = instructionStart
        for record in scatteredInternRecords {
            result += bytes[start..<record.lowerBound]
            start = record.upperBound
        }
        result += bytes[start...]
        return result
    }
}
