import Glibc

/// A TCP connection that sends arbitrary bytes, as no well-behaved client would.
final class RawConnection {
    struct Failure: Error {
        let what: String
        let code = errno
    }

    private let descriptor: CInt
    private var received: [UInt8] = []

    /// To a server on loopback. Waiting for it ends after a minute. `receiveBuffer` is what the kernel
    /// keeps of what comes in, in bytes.
    init(port: Int, receiveBuffer: CInt? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(what: "socket") }
        if var receiveBuffer {
            let size = socklen_t(MemoryLayout.size(ofValue: receiveBuffer))
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, size)
        }
        var patience = timeval(tv_sec: 60, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            let size = socklen_t(MemoryLayout.size(ofValue: patience))
            setsockopt(descriptor, SOL_SOCKET, option, &patience, size)
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port)).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let status = withUnsafeBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { address in
                connect(descriptor, address.baseAddress, socklen_t(bytes.count))
            }
        }
        guard status == 0 else { throw Failure(what: "connect") }
    }

    deinit {
        close(descriptor)
    }

    var localPort: UInt16 {
        get throws {
            var address = sockaddr_in()
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let status = withUnsafeMutableBytes(of: &address) { bytes in
                bytes.withMemoryRebound(to: sockaddr.self) {
                    getsockname(descriptor, $0.baseAddress, &size)
                }
            }
            guard status == 0 else { throw Failure(what: "getsockname") }
            return UInt16(bigEndian: address.sin_port)
        }
    }

    func send(_ text: String) throws {
        try send(Array(text.utf8))
    }

    func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure(what: "send") }
            rest = rest.dropFirst(count)
        }
    }

    /// Sends as much as the server takes in; false if it stopped, for so long, before the end.
    func sendWhatIsTaken(_ bytes: [UInt8], patienceInSeconds seconds: Int = 1) throws -> Bool {
        var patience = timeval(tv_sec: seconds, tv_usec: 0)
        let size = socklen_t(MemoryLayout.size(ofValue: patience))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, size)
        do {
            try send(bytes)
            return true
        } catch let failure as Failure where failure.code == EAGAIN {
            return false
        }
    }

    /// Reads everything up to the end of the connection.
    func readToEnd() throws -> String {
        while try fill() {}
        defer { received = [] }
        return String(decoding: received, as: UTF8.self)
    }

    /// False at the end.
    private func fill() throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        // A peer that closes before it has read everything resets the connection.
        guard count >= 0 || errno == ECONNRESET else { throw Failure(what: "receive") }
        received += buffer.prefix(max(count, 0))
        return count > 0
    }
}

// MARK: WebSocket

extension RawConnection {
    /// Becomes a sync connection; throws with the head of the answer if the server does not want that.
    func upgrade(_ app: String, _ token: String) throws {
        try send(
            "GET /api/client/v2.0/app/\(app)/realm-sync?baas_at=\(token) HTTP/1.1\r\nHost: h\r\n"
                + "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                + "Sec-WebSocket-Protocol: com.mongodb.realm-sync#9\r\n\r\n"
        )
        let blankLine = Array("\r\n\r\n".utf8)
        while true {
            if let end = received.firstRange(of: blankLine)?.upperBound {
                let head = String(decoding: received[..<end], as: UTF8.self)
                received.removeFirst(end)
                guard head.hasPrefix("HTTP/1.1 101 ") else { throw Failure(what: head) }
                return
            }
            guard try fill() else { throw Failure(what: "the server closed") }
        }
    }

    /// The head of a frame with a sync message, masked with zeros so that the bytes stay as they are.
    static func frameHead(announcing count: Int) -> [UInt8] {
        let length = (0..<8).map { UInt8(truncatingIfNeeded: UInt64(count) >> (56 - 8 * $0)) }
        return [0x82, 0xff] + length + [0, 0, 0, 0]
    }

    func sendFrame(_ message: [UInt8]) throws {
        try send(Self.frameHead(announcing: message.count) + message)
    }

    func sendFrame(_ text: String) throws {
        try sendFrame(Array(text.utf8))
    }

    /// The next message, or the code with which the server closes; nil if it just ends.
    enum Frame: Equatable {
        case message(String)
        case closed(Int)
    }

    func receiveFrame() throws -> Frame? {
        while true {
            if let frame = takeFrame() { return frame }
            guard try fill() else { return nil }
        }
    }

    private func takeFrame() -> Frame? {
        guard received.count >= 2 else { return nil }
        var start = 2
        var count = Int(received[1] & 0x7f)
        let sizeOfLength = count == 126 ? 2 : count == 127 ? 8 : 0
        if sizeOfLength > 0 {
            start += sizeOfLength
            guard received.count >= start else { return nil }
            count = received[2..<start].reduce(0) { $0 << 8 | Int($1) }
        }
        guard received.count >= start + count else { return nil }
        let payload = Array(received[start..<start + count])
        let opcode = received[0] & 0x0f
        received.removeFirst(start + count)
        guard opcode == 8 else { return .message(String(decoding: payload, as: UTF8.self)) }
        return .closed(payload.prefix(2).reduce(0) { $0 << 8 | Int($1) })
    }
}
