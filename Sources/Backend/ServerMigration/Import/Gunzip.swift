import CZlib

/// Unpacks gzip, also of several members, piece by piece.
final class Gunzip {
    private var stream = z_stream()
    private var isReady = false
    /// Whether the last member has ended.
    private(set) var isComplete = false

    private static let pieceSizeInBytes = 256 << 10

    init() {
        isReady = czlib_gunzip_init(&stream) == Z_OK
    }

    deinit {
        inflateEnd(&stream)
    }

    /// False if the bytes are damaged, or the caller wants no more; what came before was passed on.
    func unpack(_ packed: [UInt8], _ take: ([UInt8]) -> Bool) -> Bool {
        guard isReady else { return false }
        var packed = packed
        var position = 0
        while position < packed.count {
            if isComplete {
                // Another member, or zeros that fill up a block.
                guard packed[position] != 0 else {
                    position += 1
                    continue
                }
                guard inflateReset(&stream) == Z_OK else { return false }
                isComplete = false
            }
            var unpacked = [UInt8](repeating: 0, count: Self.pieceSizeInBytes)
            let rest = packed.count - position
            let (status, left, room) = packed.withUnsafeMutableBufferPointer { input in
                unpacked.withUnsafeMutableBufferPointer { output -> (Int32, Int, Int) in
                    stream.next_in = input.baseAddress.map { $0 + position }
                    stream.avail_in = UInt32(rest)
                    stream.next_out = output.baseAddress
                    stream.avail_out = UInt32(output.count)
                    let status = inflate(&stream, Z_NO_FLUSH)
                    return (status, Int(stream.avail_in), Int(stream.avail_out))
                }
            }
            guard status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR else {
                return false
            }
            position = packed.count - left
            let count = unpacked.count - room
            if count > 0 {
                unpacked.removeLast(room)
                guard take(unpacked) else { return false }
            }
            if status == Z_STREAM_END { isComplete = true }
            if status == Z_BUF_ERROR, count == 0 { break }
        }
        return true
    }
}
