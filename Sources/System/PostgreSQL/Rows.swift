internal import CPostgres

/// The rows that one statement returned, in binary form.
///
/// Rows and columns count from 0. A column of another type than asked for, NULL where a value is
/// asked for, or a place outside the table throws `.malformed`.
package final class Rows {
    private let result: OpaquePointer
    package let count: Int
    package let columnCount: Int

    /// Takes the result over.
    init(_ result: OpaquePointer) {
        self.result = result
        count = Int(PQntuples(result))
        columnCount = Int(PQnfields(result))
    }

    deinit {
        PQclear(result)
    }

    /// The server's name of what it did: `COMMIT`, `INSERT 0 1`.
    package var command: String {
        PQcmdStatus(result).map { String(cString: $0) } ?? ""
    }

    /// The number of rows that an INSERT, UPDATE, DELETE or COPY changed.
    package var changes: Int {
        PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
    }

    package func isNull(_ row: Int, _ column: Int) throws(PostgreSQLError) -> Bool {
        try check(row, column)
        return PQgetisnull(result, Int32(row), Int32(column)) == 1
    }

    /// An integer of 8, 4 or 2 bytes.
    package func integer(_ row: Int, _ column: Int) throws(PostgreSQLError) -> Int64 {
        let bytes = try value(row, column)
        return switch (PQftype(result, Int32(column)), bytes.count) {
        case (20, 8): Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
        case (23, 4): Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
        case (21, 2): Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
        default: throw unexpected(column, "an integer")
        }
    }

    package func bool(_ row: Int, _ column: Int) throws(PostgreSQLError) -> Bool {
        let bytes = try value(row, column, of: .bool)
        guard bytes.count == 1 else { throw unexpected(column, "a boolean") }
        return bytes[0] != 0
    }

    package func real(_ row: Int, _ column: Int) throws(PostgreSQLError) -> Double {
        let bytes = try value(row, column, of: .real)
        guard bytes.count == 8 else { throw unexpected(column, "a float8") }
        return Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)))
    }

    /// Text; bytes that are not UTF-8 show as U+FFFD.
    package func string(_ row: Int, _ column: Int) throws(PostgreSQLError) -> String {
        String(decoding: try value(row, column, of: .text), as: UTF8.self)
    }

    /// The bytes of a text, bytea or jsonb value; of jsonb, its JSON text.
    package func bytes(_ row: Int, _ column: Int) throws(PostgreSQLError) -> [UInt8] {
        try withBytes(row, column) { Array($0) }
    }

    /// Lends these bytes in place.
    package func withBytes<Result>(
        _ row: Int,
        _ column: Int,
        _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(PostgreSQLError) -> Result {
        let bytes = try value(row, column)
        switch TypeID(rawValue: PQftype(self.result, Int32(column))) {
        case .text, .bytes: return body(bytes)
        case .document: return body(try Self.document(bytes))
        default: throw unexpected(column, "text, bytea or jsonb")
        }
    }

    // MARK: Arrays

    package func integers(_ row: Int, _ column: Int) throws(PostgreSQLError) -> [Int64?] {
        try elements(row, column, .integers, of: .integer) { bytes throws(PostgreSQLError) in
            guard bytes.count == 8 else { throw .malformed("an int8 has \(bytes.count) bytes") }
            return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
        }
    }

    /// The elements of a text[] as UTF-8.
    package func texts(_ row: Int, _ column: Int) throws(PostgreSQLError) -> [[UInt8]?] {
        try elements(row, column, .texts, of: .text) { bytes throws(PostgreSQLError) in
            Array(bytes)
        }
    }

    package func byteStrings(_ row: Int, _ column: Int) throws(PostgreSQLError) -> [[UInt8]?] {
        try elements(row, column, .byteStrings, of: .bytes) { bytes throws(PostgreSQLError) in
            Array(bytes)
        }
    }

    /// The elements of a jsonb[] as JSON text.
    package func documents(_ row: Int, _ column: Int) throws(PostgreSQLError) -> [[UInt8]?] {
        try elements(row, column, .documents, of: .document) { bytes throws(PostgreSQLError) in
            Array(try Self.document(bytes))
        }
    }

    private func elements<Element>(
        _ row: Int,
        _ column: Int,
        _ type: TypeID,
        of element: TypeID,
        _ body: (UnsafeRawBufferPointer) throws(PostgreSQLError) -> Element
    ) throws(PostgreSQLError) -> [Element?] {
        var reader = try ArrayReader(try value(row, column, of: type), of: element)
        var elements: [Element?] = []
        elements.reserveCapacity(reader.count)
        for _ in 0..<reader.count {
            if let bytes = try reader.next() {
                elements.append(try body(bytes))
            } else {
                elements.append(nil)
            }
        }
        try reader.finish()
        return elements
    }

    // MARK: Bytes

    /// jsonb's binary form: the version 1, then JSON text.
    private static func document(
        _ bytes: UnsafeRawBufferPointer
    ) throws(PostgreSQLError) -> UnsafeRawBufferPointer {
        guard bytes.first == 1 else { throw .malformed("a jsonb value has an unknown version") }
        return UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
    }

    private func value(
        _ row: Int,
        _ column: Int,
        of type: TypeID
    ) throws(PostgreSQLError) -> UnsafeRawBufferPointer {
        let bytes = try value(row, column)
        guard PQftype(result, Int32(column)) == type.rawValue else {
            throw unexpected(column, "\(type)")
        }
        return bytes
    }

    private func value(
        _ row: Int,
        _ column: Int
    ) throws(PostgreSQLError) -> UnsafeRawBufferPointer {
        guard try !isNull(row, column) else { throw .malformed("column \(column) is NULL") }
        guard PQfformat(result, Int32(column)) == 1 else {
            throw .malformed("column \(column) is not in binary form")
        }
        let start = PQgetvalue(result, Int32(row), Int32(column))
        let length = PQgetlength(result, Int32(row), Int32(column))
        guard let start, length >= 0 else { throw .malformed("column \(column) has no bytes") }
        return UnsafeRawBufferPointer(start: start, count: Int(length))
    }

    private func check(_ row: Int, _ column: Int) throws(PostgreSQLError) {
        guard (0..<count).contains(row), (0..<columnCount).contains(column) else {
            throw .malformed("no row \(row) with a column \(column) was returned")
        }
    }

    private func unexpected(_ column: Int, _ expected: String) -> PostgreSQLError {
        .malformed(
            "column \(column) has type \(PQftype(result, Int32(column))) and not \(expected)"
        )
    }
}
