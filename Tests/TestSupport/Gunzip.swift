import CZlib

/// Unpacks gzip data, as the larger vector files are.
func gunzip(_ packed: [UInt8]) throws -> [UInt8] {
    struct Failure: Error {}
    var stream = z_stream()
    guard czlib_gunzip_init(&stream) == Z_OK else { throw Failure() }
    defer { inflateEnd(&stream) }

    var unpacked: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    var input = packed
    return try input.withUnsafeMutableBufferPointer { source in
        stream.next_in = source.baseAddress
        stream.avail_in = UInt32(source.count)
        while true {
            let (status, produced) = chunk.withUnsafeMutableBufferPointer { target in
                stream.next_out = target.baseAddress
                stream.avail_out = UInt32(target.count)
                let status = inflate(&stream, Z_NO_FLUSH)
                return (status, target.count - Int(stream.avail_out))
            }
            unpacked.append(contentsOf: chunk[..<produced])
            if status == Z_STREAM_END { return unpacked }
            guard status == Z_OK else { throw Failure() }
        }
    }
}
