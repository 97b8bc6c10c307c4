internal import CPostgres
internal import Glibc

extension Connection {
    /// Inserts rows with COPY in binary form.
    ///
    /// A closure that throws cancels the COPY, and its error is thrown on.
    ///
    /// - Parameters:
    ///   - table: the table and its columns, as in `object (file_id, class, key)`; a text of the
    ///     program, not of a peer.
    ///   - deadline: for the whole COPY; nil means the target's `limits.response` from now.
    ///   - next: the values of the next row; nil at the end.
    /// - Returns: the number of rows.
    @discardableResult
    package func copy(
        into table: String,
        deadline: Deadline? = nil,
        _ next: () throws -> [Value]?
    ) throws -> Int {
        let deadline = deadline ?? .after(responseLimit)
        var cancellation: (any Error)?
        var count = 0
        do throws(PostgreSQLError) {
            count = try exchange { handle throws(PostgreSQLError) in
                try begin(table, on: handle, until: deadline)
                cancellation = try sendRows(next, on: handle, until: deadline)
                return try end(cancellation != nil, on: handle, until: deadline)
            }
        } catch {
            // The server reports the cancellation as an error of its own.
            throw error.connectionIsLost ? error : cancellation ?? error
        }
        return count
    }

    private func begin(
        _ table: String,
        on handle: OpaquePointer,
        until deadline: Deadline
    ) throws(PostgreSQLError) {
        guard PQsendQuery(handle, "COPY \(table) FROM STDIN (FORMAT binary)") == 1 else {
            throw Self.lost(handle)
        }
        try flush(handle, until: deadline)
        guard let result = try nextResult(handle, until: deadline) else {
            throw Self.confused("a COPY has no result")
        }
        defer { PQclear(result) }
        switch PQresultStatus(result) {
        case PGRES_COPY_IN: return
        case PGRES_FATAL_ERROR:
            let error = PostgreSQLError(result: result, step: nil)
            // Before the next command its end must have been read.
            try finish(handle, until: deadline)
            throw error
        default: throw Self.confused("a COPY has a result of an unexpected kind")
        }
    }

    /// Returns the closure's error.
    private func sendRows(
        _ next: () throws -> [Value]?,
        on handle: OpaquePointer,
        until deadline: Deadline
    ) throws(PostgreSQLError) -> (any Error)? {
        var writer = CopyWriter()
        while true {
            let row: [Value]?
            do {
                row = try next()
                if let row { try writer.append(row) }
            } catch {
                return error
            }
            if row == nil { writer.finish() }
            if row == nil || writer.isFull {
                guard try put(writer.bytes, on: handle, until: deadline) else { return nil }
                writer.removeAll()
            }
            if row == nil { return nil }
        }
    }

    /// False if the server has ended the COPY; its results say why.
    private func put(
        _ bytes: [UInt8],
        on handle: OpaquePointer,
        until deadline: Deadline
    ) throws(PostgreSQLError) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            // libpq counts in 32 bits; a single row may be larger than a piece.
            let piece = rest.prefix(1 << 20)
            // Where it never has to wait, it must still see an interruption and the deadline.
            try wait(handle, for: POLLOUT, until: deadline)
            let status = piece.withUnsafeBytes {
                PQputCopyData(
                    handle,
                    $0.baseAddress?.assumingMemoryBound(to: CChar.self),
                    Int32($0.count)
                )
            }
            guard status >= 0 else { return false }
            if status == 1 { rest = rest.dropFirst(piece.count) }
            // Keeps libpq's buffer small.
            try flush(handle, until: deadline)
        }
        return true
    }

    private func end(
        _ isCancelled: Bool,
        on handle: OpaquePointer,
        until deadline: Deadline
    ) throws(PostgreSQLError) -> Int {
        while true {
            let status = PQputCopyEnd(handle, isCancelled ? "cancelled" : nil)
            if status != 0 { break }
            try wait(handle, for: POLLIN | POLLOUT, until: deadline)
        }
        try flush(handle, until: deadline)
        var count = 0
        try finish(handle, until: deadline) { result in
            count = PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? count
        }
        return count
    }
}

/// Collects the rows of a COPY: a header, each row behind its number of fields, an end.
private struct CopyWriter {
    private var writer = BinaryWriter()

    /// libpq sends pieces of about this size at once.
    private static let pieceSizeInBytes = 1 << 16

    init() {
        writer.append(raw: Array("PGCOPY\n".utf8) + [0xff, 0x0d, 0x0a, 0])
        // Neither flags nor an extension.
        writer.append(UInt64(0))
    }

    var bytes: [UInt8] { writer.bytes }
    var isFull: Bool { writer.bytes.count >= Self.pieceSizeInBytes }

    mutating func append(_ row: [Value]) throws(PostgreSQLError) {
        writer.append(Int16(clamping: row.count))
        for value in row { try writer.appendField(value) }
    }

    mutating func finish() {
        writer.append(Int16(-1))
    }

    mutating func removeAll() {
        writer.removeAll()
    }
}
