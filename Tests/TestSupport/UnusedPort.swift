import Glibc

/// A loopback port that is unused at the moment.
package func unusedPort() -> Int {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutableBytes(of: &address) { bytes in
        guard let pointer = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else {
            return
        }
        bind(descriptor, pointer, size)
        getsockname(descriptor, pointer, &size)
    }
    return Int(UInt16(bigEndian: address.sin_port))
}
