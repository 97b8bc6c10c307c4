/// The targets reached without a proxy: the entries of `no_proxy`.
///
/// An entry is `*`, a domain with all below it, an address, or a range of IPv4 addresses such as
/// `10.0.0.0/8`, and may end in a port.
struct ProxyExceptions: Hashable, Sendable {
    private enum Entry: Hashable {
        case everything
        case range(IPv4Range)
        /// Without a leading dot.
        case domain(String, port: Int?)
    }

    private let entries: [Entry]

    init(_ text: String) {
        self.entries = text.split { $0 == "," || $0.isWhitespace }.compactMap(Self.entry)
    }

    private static func entry(_ text: Substring) -> Entry? {
        if text == "*" { return .everything }
        if let range = IPv4Range(text) { return .range(range) }
        // An IPv6 address without brackets has several colons, none of which begins a port.
        let isBareAddress = text.first != "[" && text.count(where: { $0 == ":" }) > 1
        guard let (host, port) = isBareAddress ? (text, nil) : text.hostAndPort else { return nil }
        let name = host.drop { $0 == "." || $0 == "*" }.lowercased()
        return name.isEmpty ? nil : .domain(name, port: port)
    }

    func cover(_ target: ProxyTarget) -> Bool {
        entries.contains { entry in
            switch entry {
            case .everything: true
            case .range(let range): range.contains(target.host)
            case .domain(let name, let port):
                (port ?? target.port) == target.port
                    && (target.host == name || target.host.hasSuffix("." + name))
            }
        }
    }
}

/// The addresses that share a prefix.
struct IPv4Range: Hashable, Sendable {
    private let base: UInt32
    private let mask: UInt32

    /// Nil unless the text is an address, `/`, and a number of bits.
    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let address = Self.address(parts[0]), let bits = UInt8(parts[1]),
            bits <= 32
        else { return nil }
        self.mask = bits == 0 ? 0 : .max << (32 - UInt32(bits))
        self.base = address & mask
    }

    func contains(_ host: String) -> Bool {
        Self.address(host).map { $0 & mask == base } ?? false
    }

    private static func address(_ text: some StringProtocol) -> UInt32? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var address: UInt32 = 0
        for part in parts {
            guard let byte = UInt8(part) else { return nil }
            address = address << 8 | UInt32(byte)
        }
        return address
    }
}
