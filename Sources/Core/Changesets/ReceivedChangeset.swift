/// A changeset together with its bytes, and what the decoder noticed about them.
///
/// A server stores changesets in the re-encoder's form (changesets spec, 9). Most clients write each
/// record as the re-encoder does, and only introduce strings between them: then records are moved, and none
/// is encoded again.
package struct ReceivedChangeset: Sendable {
    package let changeset: Changeset
    /// Whether an instruction changes classes or properties.
    package let changesSchema: Bool
    private let bytes: [UInt8]
    private let layout: RecordLayout

    package init(decoding bytes: [UInt8]) throws(DecodeError) {
        (self.changeset, self.layout) = try ChangesetDecoder.decode(bytes)
        self.changesSchema = layout.changesSchema
        self.bytes = bytes
    }

    /// The bytes that `changeset.encoded()` gives.
    package func encoded() -> [UInt8] {
        guard layout.isReencodedAlike else { return changeset.encoded() }
        guard !changeset.instructions.isEmpty else { return [] }
        guard !layout.scatteredInternRecords.isEmpty else { return bytes }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        result += bytes[..<layout.instructionStart]
        for record in layout.scatteredInternRecords { result += bytes[record] }
        var start = layout.instructionStart
        for record in layout.scatteredInternRecords {
            result += bytes[start..<record.lowerBound]
            start = record.upperBound
        }
        result += bytes[start...]
        return result
    }
}

/// The positions of a changeset's records.
struct RecordLayout {
    /// Whether the encoder would write each record with the same bytes.
    var isReencodedAlike = true
    var changesSchema = false
    /// The end of the intern records before the first instruction.
    var instructionStart = 0
    /// Intern records behind it, neighbours joined.
    var scatteredInternRecords: [Range<Int>] = []

    mutating func addInternRecord(_ record: Range<Int>, isLeading: Bool) {
        guard !isLeading else { return instructionStart = record.upperBound }
        guard let last = scatteredInternRecords.last, last.upperBound == record.lowerBound else {
            return scatteredInternRecords.append(record)
        }
        let joined = last.lowerBound..<record.upperBound
        scatteredInternRecords[scatteredInternRecords.count - 1] = joined
    }
}
