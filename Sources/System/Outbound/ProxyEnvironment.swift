/// The proxies named by the variables `https_proxy`, `http_proxy` and `no_proxy`, in lower or upper
/// case.
///
/// Connections to this machine itself never use a proxy.
package struct ProxyEnvironment: Hashable, Sendable {
    private let secure: Variable?
    private let plain: Variable?
    private let exceptions: ProxyExceptions

    private struct Variable: Hashable {
        let name: String
        let value: String
    }

    package init(_ variables: [String: String]) {
        func variable(_ name: String) -> Variable? {
            for name in [name, name.uppercased()] {
                if let value = variables[name], !value.isEmpty {
                    return Variable(name: name, value: value)
                }
            }
            return nil
        }
        self.secure = variable("https_proxy")
        self.plain = variable("http_proxy")
        self.exceptions = ProxyExceptions(variable("no_proxy")?.value ?? "")
    }

    func proxy(to target: ProxyTarget) throws(ProxyVariableProblem) -> ProxyServer? {
        guard let variable = target.isSecure ? secure : plain, !target.isThisMachine,
            !exceptions.cover(target)
        else { return nil }
        guard let proxy = ProxyServer(url: variable.value) else {
            throw ProxyVariableProblem(variable: variable.name)
        }
        return proxy
    }
}

/// An environment variable does not name a usable proxy.
package struct ProxyVariableProblem: Error, Hashable, Sendable, CustomStringConvertible {
    package let variable: String

    /// The value may hold a password.
    package var description: String {
        "the environment variable \(variable) is not the URL of an HTTP proxy, such as "
            + "http://proxy.example.com:3128; correct it, or set `proxy` of the app"
    }
}

extension ProxyServer {
    /// `[http://][USER:PASSWORD@]HOST[:PORT]`, as in environment variables.
    init?(url: String) {
        var rest = url[...]
        if let separator = rest.firstRange(of: "://") {
            guard rest[..<separator.lowerBound].lowercased() == "http" else { return nil }
            rest = rest[separator.upperBound...]
        }
        rest = rest.prefix { !"/?#".contains($0) }
        var credentials: ProxyCredentials?
        if let at = rest.lastIndex(of: "@") {
            let parts = rest[..<at].split(
                separator: ":",
                maxSplits: 1,
                omittingEmptySubsequences: false
            )
            guard let username = parts[0].removingPercentEncoding,
                let password = (parts.count > 1 ? parts[1] : "").removingPercentEncoding
            else { return nil }
            credentials = ProxyCredentials(username: username, password: password)
            rest = rest[rest.index(after: at)...]
        }
        guard let (host, port) = rest.hostAndPort else { return nil }
        self.init(host: String(host), port: port ?? 80, credentials: credentials)
    }
}

extension Substring {
    /// Nil if a `%` is not followed by two hexadecimal digits, or the result is not UTF-8.
    fileprivate var removingPercentEncoding: String? {
        var bytes: [UInt8] = []
        var rest = utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.count == 2, let value = UInt8(digits, radix: 16) else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension ProxyTarget {
    fileprivate var isThisMachine: Bool {
        host == "localhost" || host.hasSuffix(".localhost") || host == "::1"
            || IPv4Range("127.0.0.0/8")?.contains(host) == true
    }
}
