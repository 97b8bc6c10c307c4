import NIOCore

/// Tracks the frames in the bytes of a WebSocket connection without keeping them (RFC 6455, 5.2).
/// Malformed frames are left to the decoder, which sees the same bytes.
struct FrameScanner {
    enum Event: Hashable {
        /// The header of a frame of a message; the rest of the frame may still be on its way.
        case announced(sizeInBytes: Int, isLast: Bool)
        /// The message is complete.
        case ended
    }

    private enum State {
        case head
        /// `ends`: the frame is the last one of a message.
        case payload(remaining: Int, ends: Bool)
    }

    private var state = State.head
    /// The bytes of the current frame header so far, 14 at most.
    private var head: [UInt8] = []

    mutating func scan(_ buffer: ByteBuffer) -> [Event] {
        var events: [Event] = []
        var rest = buffer.readableBytesView
        while let byte = rest.first {
            switch state {
            case .head:
                rest = rest.dropFirst()
                head.append(byte)
                if let frame = Frame(head) { begin(frame, &events) }
            case .payload(let remaining, let ends):
                let count = min(remaining, rest.count)
                rest = rest.dropFirst(count)
                state = .payload(remaining: remaining - count, ends: ends)
                if count == remaining { end(ends, &events) }
            }
        }
        return events
    }

    private mutating func begin(_ frame: Frame, _ events: inout [Event]) {
        if !frame.isControl {
            events.append(.announced(sizeInBytes: frame.size, isLast: frame.isFinal))
        }
        head.removeAll(keepingCapacity: true)
        let ends = frame.isFinal && !frame.isControl
        if frame.size > 0 {
            state = .payload(remaining: frame.size, ends: ends)
        } else {
            end(ends, &events)
        }
    }

    private mutating func end(_ ends: Bool, _ events: inout [Event]) {
        if ends { events.append(.ended) }
        state = .head
    }

    /// The content of a frame header.
    private struct Frame {
        let isFinal: Bool
        let isControl: Bool
        let size: Int

        /// Nil until the header is complete.
        init?(_ head: [UInt8]) {
            guard head.count >= 2 else { return nil }
            let short = Int(head[1] & 0x7f)
            let sizeOfLength = short == 126 ? 2 : short == 127 ? 8 : 0
            let sizeOfMask = head[1] & 0x80 != 0 ? 4 : 0
            guard head.count == 2 + sizeOfLength + sizeOfMask else { return nil }
            let length = head[2..<2 + sizeOfLength].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            self.isFinal = head[0] & 0x80 != 0
            self.isControl = head[0] & 0x08 != 0
            self.size = sizeOfLength == 0 ? short : Int(clamping: length)
        }
    }
}
