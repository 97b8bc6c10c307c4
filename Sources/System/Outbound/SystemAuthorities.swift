import Glibc

/// The certificate authorities of this system, in the places where the TLS library looks for them.
///
/// The library itself reports their absence without a word.
package struct SystemAuthorities: Sendable {
    /// Bundles in PEM; the first that exists counts.
    let files: [String]
    /// With a link for each authority, named by its hash: `5ed36f99.0`.
    let directories: [String]

    package init(files: [String], directories: [String]) {
        self.files = files
        self.directories = directories
    }

    package static let ofSystem = SystemAuthorities(
        files: ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"],
        directories: ["/etc/ssl/certs"]
    )

    /// Whether there is any.
    package var exist: Bool {
        // The library reads the bundle if there is one, and fails if it holds nothing.
        if let size = files.lazy.compactMap(Self.sizeInBytes).first { return size > 0 }
        return directories.contains(where: Self.hasAuthority)
    }

    /// Nil if it is not a regular file.
    private static func sizeInBytes(_ file: String) -> Int? {
        var status = stat()
        guard stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }

    private static func hasAuthority(_ directory: String) -> Bool {
        guard let stream = opendir(directory) else { return false }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                bytes.prefix { $0 != 0 }
            }
            if isHash(Array(name)) { return true }
        }
        return false
    }

    /// Eight hexadecimal digits, a dot, and a number.
    private static func isHash(_ name: [UInt8]) -> Bool {
        guard name.count >= 10, name[8] == UInt8(ascii: ".") else { return false }
        let isHexadecimal = name.prefix(8).allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
        return isHexadecimal && name.dropFirst(9).allSatisfy { (0x30...0x39).contains($0) }
    }
}
