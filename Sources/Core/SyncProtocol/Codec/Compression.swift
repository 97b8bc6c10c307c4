import CZlib

/// The zlib form of UPLOAD and DOWNLOAD bodies (wire protocol, 3.1).
enum Compression {
    /// Bodies up to this size are never compressed.
    private static let thresholdInBytes = 1024
    /// The level of the reference, so that the same body gives the same bytes.
    private static let level: Int32 = 1
    /// Deflate cannot compress by more than this factor.
    private static let largestRatio: UInt64 = 1032

    /// The compressed body, or nil if it is sent uncompressed.
    static func deflated(_ body: [UInt8]) -> [UInt8]? {
        guard body.count > thresholdInBytes, let size = UInt32(exactly: body.count) else {
            return nil
        }
        var stream = z_stream()
        guard czlib_deflate_init(&stream, level) == Z_OK else { return nil }
        defer { deflateEnd(&stream) }

        var isComplete = false
        var source = body
        // One byte less than the body: a larger result is not worth sending.
        let packed = [UInt8](unsafeUninitializedCapacity: body.count - 1) { target, count in
            source.withUnsafeMutableBufferPointer { source in
                stream.next_in = source.baseAddress
                stream.avail_in = size
                stream.next_out = target.baseAddress
                stream.avail_out = size - 1
                isComplete = deflate(&stream, Z_FINISH) == Z_STREAM_END
            }
            count = target.count - Int(stream.avail_out)
        }
        return isComplete ? packed : nil
    }

    /// Nil unless the bytes are one zlib stream that holds exactly `size` bytes.
    static func inflated(_ packed: [UInt8], size: UInt64) -> [UInt8]? {
        // The peer chose this number: check it against what the stream can contain before it sizes
        // a buffer.
        guard size <= UInt64(packed.count) * largestRatio,
            let packedSize = UInt32(exactly: packed.count), let bodySize = UInt32(exactly: size)
        else { return nil }
        var stream = z_stream()
        guard czlib_inflate_init(&stream) == Z_OK else { return nil }
        defer { inflateEnd(&stream) }

        var isComplete = false
        var source = packed
        // One byte more than announced, to detect a longer stream.
        let body = [UInt8](unsafeUninitializedCapacity: Int(bodySize) + 1) { target, count in
            source.withUnsafeMutableBufferPointer { source in
                stream.next_in = source.baseAddress
                stream.avail_in = packedSize
                stream.next_out = target.baseAddress
                stream.avail_out = bodySize + 1
                isComplete = inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_in == 0
            }
            count = Int(bodySize) + 1 - Int(stream.avail_out)
        }
        return isComplete && UInt64(body.count) == size ? body : nil
    }
}
