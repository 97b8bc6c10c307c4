import Glibc

/// An IP address; an IPv4 address equals the same one seen by an IPv6 socket.
package struct IPAddress: Hashable, Sendable {
    /// 16 bytes, IPv4 as `::ffff:a.b.c.d`.
    fileprivate let bytes: [UInt8]

    /// Reads what `inet_pton` accepts; ignores a zone such as `%eth0`. Nil for other texts.
    package init?(_ text: some StringProtocol) {
        let text = String(text.prefix { $0 != "%" })
        guard text.utf8.count <= 45 else { return nil }
        var long = in6_addr()
        if inet_pton(AF_INET6, text, &long) == 1 {
            self.bytes = withUnsafeBytes(of: &long) { Array($0) }
            return
        }
        var short = in_addr()
        guard inet_pton(AF_INET, text, &short) == 1 else { return nil }
        self.bytes = Self.mappedPrefix + withUnsafeBytes(of: &short) { Array($0) }
    }

    private static let mappedPrefix: [UInt8] = Array(repeating: 0, count: 10) + [0xff, 0xff]

    fileprivate var isIPv4: Bool { bytes.starts(with: Self.mappedPrefix) }

    fileprivate init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The address with all bits after the first `bits` zero.
    fileprivate func masked(to bits: Int) -> IPAddress {
        IPAddress(
            bytes: bytes.enumerated().map { index, byte in
                let kept = min(max(bits - index * 8, 0), 8)
                return byte & ~UInt8(truncatingIfNeeded: 0xff >> kept)
            }
        )
    }
}

extension IPAddress {
    /// The key for limits: an IPv4 address, or the first 64 bits of an IPv6 address. A host has all
    /// addresses that begin with them.
    package var limitKey: String {
        guard isIPv4 else {
            let groups = stride(from: 0, to: 8, by: 2).map { index in
                String(UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1]), radix: 16)
            }
            return groups.joined(separator: ":") + "::/64"
        }
        return bytes.suffix(4).map { "\($0)" }.joined(separator: ".")
    }

    package var isLoopback: Bool {
        isIPv4 ? bytes[12] == 127 : bytes == Array(repeating: 0, count: 15) + [1]
    }
}

/// An address, or all with the same prefix: `192.0.2.1`, `10.0.0.0/8`, `fd00::/8`.
package struct AddressRange: Hashable, Sendable {
    private let start: IPAddress
    private let bits: Int

    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPAddress(first) else { return nil }
        let width = first.contains(":") ? 128 : 32
        var length = width
        if parts.count == 2 {
            guard let number = Int(parts[1]), parts[1].utf8.allSatisfy({ 0x30...0x39 ~= $0 }),
                (0...width).contains(number)
            else { return nil }
            length = number
        }
        self.bits = 128 - width + length
        self.start = address.masked(to: bits)
    }

    package func contains(_ address: IPAddress) -> Bool {
        address.masked(to: bits) == start
    }
}
