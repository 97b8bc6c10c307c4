import Settings

/// The address of a service: a scheme, a host, and perhaps a port and a path.
package struct ServiceURL: Hashable, Sendable {
    package let scheme: Scheme
    /// A name, an IPv4 address, or an IPv6 address in brackets; in lower case.
    package let host: String
    package let port: Int?
    /// Empty, or from its "/" on, without one at the end.
    package let path: String

    package enum Scheme: String, Sendable {
        case http, https, ws, wss

        package var isEncrypted: Bool { self == .https || self == .wss }
    }

    /// Whether the traffic can be read on its way.
    package var isExposed: Bool {
        !scheme.isEncrypted && !isLoopback
    }

    /// Whether it leads to this machine itself.
    package var isLoopback: Bool {
        let isIPv4 = host.utf8.allSatisfy { $0.isASCIIDigit || $0.isOne(of: ".") }
        return host == "localhost" || host == "[::1]" || isIPv4 && host.hasPrefix("127.")
    }
}

extension ServiceURL: CustomStringConvertible {
    package var description: String {
        "\(scheme.rawValue)://\(host)\(port.map { ":\($0)" } ?? "")\(path)"
    }
}

extension ServiceURL {
    struct Problem: Error {
        let problem: String
        let remedy: String
    }

    /// Reads the text of a URL; of the schemes allowed, the first is the one to recommend.
    init(
        _ text: String,
        schemes: [Scheme],
        purpose: String = "carry sync"
    ) throws(Problem) {
        let recommended = schemes.first?.rawValue ?? "https"
        let malformed = Problem(
            problem: "\(quoted(text)) is not a URL",
            remedy: "give one such as \(recommended)://sync.example.com"
        )
        guard let separator = text.firstRange(of: "://") else { throw malformed }
        let word = text[..<separator.lowerBound].lowercased()
        guard let scheme = schemes.first(where: { $0.rawValue == word }) else {
            throw Problem(
                problem: "scheme \(quoted(word)) cannot \(purpose)",
                remedy: "use \"\(recommended)\""
            )
        }
        let rest = text[separator.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let path = rest.dropFirst(authority.count)
        guard !authority.contains("@") else {
            // The text before "@" may be a password: it is not shown.
            throw Problem(
                problem: "a user name does not belong into this URL",
                remedy: "remove the part before \"@\""
            )
        }
        guard !path.contains(where: { $0 == "?" || $0 == "#" }) else {
            throw Problem(
                problem: "\(quoted(text)) has a query",
                remedy: "remove what begins at \"?\" or \"#\""
            )
        }
        guard let (host, port) = Self.split(authority), path.utf8.allSatisfy(Self.isVisible) else {
            throw malformed
        }
        self.scheme = scheme
        self.host = host.lowercased()
        self.port = port
        self.path = String(path.reversed().drop { $0 == "/" }.reversed())
    }

    private static func split(_ authority: Substring) -> (host: Substring, port: Int?)? {
        var host = authority
        var port: Int?
        // A colon inside the brackets of an IPv6 address begins no port.
        if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
            host = authority[..<colon]
            port = Int(authority[authority.index(after: colon)...])
            guard let port, (1...65_535).contains(port) else { return nil }
        }
        return isName(host) || isBracketed(host) ? (host, port) : nil
    }

    private static func isName(_ host: Substring) -> Bool {
        !host.isEmpty && !host.hasPrefix(".") && !host.hasPrefix("-")
            && host.utf8.allSatisfy {
                $0.isASCIILetter || $0.isASCIIDigit || $0.isOne(of: "-._")
            }
    }

    private static func isBracketed(_ host: Substring) -> Bool {
        host.hasPrefix("[") && host.hasSuffix("]") && host.utf8.count > 3
            && host.utf8.dropFirst().dropLast().allSatisfy {
                $0.isASCIILetter || $0.isASCIIDigit || $0.isOne(of: ":.%")
            }
    }

    private static func isVisible(_ byte: UInt8) -> Bool {
        (0x21...0x7e).contains(byte)
    }
}

extension ServiceURL {
    static func read(
        _ reader: NodeReader,
        schemes: [Scheme],
        purpose: String = "carry sync",
        warnsOfExposure: Bool = true
    ) -> ServiceURL? {
        guard let text = reader.string() else { return nil }
        do {
            let url = try ServiceURL(text, schemes: schemes, purpose: purpose)
            if warnsOfExposure && url.isExposed {
                reader.report(
                    .insecure,
                    severity: .warning,
                    "log-in and data cross the network unencrypted",
                    remedy: "use \"\(schemes.first?.rawValue ?? "https")\""
                )
            }
            return url
        } catch {
            reader.report(.badValue, error.problem, remedy: error.remedy)
            return nil
        }
    }
}
