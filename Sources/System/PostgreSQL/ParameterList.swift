internal import CPostgres

/// The parameters of one statement, encoded into one block of memory.
struct ParameterList {
    private var writer = BinaryWriter()
    private var ranges: [Range<Int>?] = []

    init(_ values: [Value]) throws(PostgreSQLError) {
        for value in values {
            let start = writer.bytes.count
            let isPresent = writer.append(value)
            guard writer.bytes.count <= BinaryWriter.limit else { throw .tooLarge }
            ranges.append(isPresent ? start..<writer.bytes.count : nil)
        }
        // An empty value needs an address, too: a null pointer would be NULL.
        writer.append(UInt8(0))
    }

    /// Lends the arrays that libpq's calls take: addresses, lengths and formats.
    func withArrays<Result>(
        _ body: ([UnsafePointer<CChar>?], [Int32], [Int32]) -> Result
    ) -> Result {
        writer.bytes.withUnsafeBytes { bytes in
            let addresses = ranges.map { range in
                range.flatMap { range in
                    bytes.baseAddress.map {
                        ($0 + range.lowerBound).assumingMemoryBound(to: CChar.self)
                    }
                }
            }
            let lengths = ranges.map { Int32($0?.count ?? 0) }
            return body(addresses, lengths, [Int32](repeating: 1, count: ranges.count))
        }
    }
}
