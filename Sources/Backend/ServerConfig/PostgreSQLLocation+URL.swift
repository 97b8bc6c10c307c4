import Settings

/// The short form: `postgresql://USER@HOST:PORT/DATABASE?sslmode=verify-full`.
extension PostgreSQLLocation {
    /// The text behind the scheme; nil if it is not such a URL.
    static func withoutScheme(_ text: String) -> Substring? {
        let scheme = ["postgresql://", "postgres://"].first { text.hasPrefix($0) }
        return scheme.map { text.dropFirst($0.count) }
    }

    init(urlWithoutScheme text: Substring) throws(BadStorageText) {
        let (rest, query) = text.halves(at: "?")
        let (authority, path) = rest.halves(at: "/")
        // The last "@": a password may contain others.
        let at = authority.lastIndex(of: "@")
        let user = try Self.user(at.map { authority[..<$0] } ?? "")
        let hostList = at.map { authority[authority.index(after: $0)...] } ?? authority
        let parameters = try Parameters(query ?? "")
        let hosts = try Self.hosts(hostList, or: parameters.host)
        guard let database = path?.percentDecoded, NameText.isValid(database) else {
            throw BadStorageText(
                "the URL names no database",
                remedy: "end it with a slash and the name, as in \(Self.example)"
            )
        }
        self.init(
            hosts: hosts,
            database: database,
            user: user,
            password: parameters.passfile.map { .passfile(path: $0) },
            tls: try parameters.tls ?? Self.standardTLS(of: hosts),
            authorities: parameters.sslrootcert ?? Self.standardAuthorities,
            clientCertificate: try parameters.clientCertificate,
            schema: parameters.schema ?? Self.standardSchema
        )
        guard let conflict else { return }
        throw BadStorageText("\(conflict.key) \(conflict.problem)", remedy: conflict.remedy)
    }

    static let example = "postgresql://realm_server@db1/realm"

    static let secretInURL = BadStorageText(
        "the URL contains a password",
        remedy: "remove it, and name the password's place under storage.postgresql.password, as "
            + "{ file: PATH }",
        hasSecret: true
    )

    private static func user(_ text: Substring) throws(BadStorageText) -> String {
        guard !text.contains(":") else { throw secretInURL }
        guard let user = text.percentDecoded, NameText.isValid(user) else {
            throw BadStorageText(
                "the URL names no user",
                remedy: "put the user in front of the host, as in \(example)"
            )
        }
        return user
    }

    private static func hosts(
        _ text: Substring,
        or directory: String?
    ) throws(BadStorageText) -> [Host] {
        let list = text.isEmpty ? directory.map { [$0[...]] } ?? [] : text.split(separator: ",")
        var hosts: [Host] = []
        for text in list {
            guard let decoded = text.percentDecoded, let host = Host(decoded) else {
                throw BadStorageText(
                    "the URL names an invalid host",
                    remedy: "give hosts with ports, separated by commas, as in db1:5432,db2:5432"
                )
            }
            hosts.append(host)
        }
        guard !hosts.isEmpty, text.isEmpty || directory == nil else {
            throw BadStorageText(
                hosts.isEmpty ? "the URL names no host" : "the URL names hosts twice",
                remedy: "give hosts behind the user, or ?host=/DIRECTORY for a socket"
            )
        }
        return hosts
    }
}

/// The parameters behind the question mark.
private struct Parameters {
    var host: String?
    var sslmode: String?
    var sslrootcert: String?
    var sslcert: String?
    var sslkey: String?
    var passfile: String?
    var schema: String?

    private static let names = [
        "host", "passfile", "schema", "sslcert", "sslkey", "sslmode", "sslrootcert",
    ]

    init(_ query: Substring) throws(BadStorageText) {
        for item in query.split(separator: "&") {
            let (encodedName, encodedValue) = item.halves(at: "=")
            guard let name = encodedName.percentDecoded,
                let value = (encodedValue ?? "").percentDecoded
            else { throw Self.malformed }
            guard name != "password", name != "sslpassword" else {
                throw PostgreSQLLocation.secretInURL
            }
            let isValid = name == "schema" ? NameText.isValidSchema(value) : !value.isEmpty
            guard isValid, !value.utf8.contains(0) else { throw Self.malformed }
            switch name {
            case "host" where value.hasPrefix("/"): host = value
            case "passfile" where value.hasPrefix("/"): passfile = value
            case "schema": schema = value
            case "sslcert" where value.hasPrefix("/"): sslcert = value
            case "sslkey" where value.hasPrefix("/"): sslkey = value
            case "sslmode": sslmode = value
            case "sslrootcert" where value.hasPrefix("/"): sslrootcert = value
            default: throw Self.malformed
            }
        }
    }

    private static let malformed = BadStorageText(
        "the URL has an unknown or malformed parameter",
        remedy: "use \(Suggestion.list(names)), files and directories with absolute paths; other "
            + "settings are keys of storage.postgresql"
    )

    var tls: PostgreSQLLocation.TLSMode? {
        get throws(BadStorageText) {
            switch sslmode {
            case nil: return nil
            case "verify-full": return .verifyFull
            case "verify-ca": return .verifyAuthority
            case "disable": return .off
            default:
                throw BadStorageText(
                    "the URL's sslmode does not verify the server",
                    remedy: "use verify-full, verify-ca or disable"
                )
            }
        }
    }

    var clientCertificate: CertificateFiles? {
        get throws(BadStorageText) {
            switch (sslcert, sslkey) {
            case (nil, nil): return nil
            case (let certificate?, let key?):
                return CertificateFiles(certificate: certificate, key: key)
            default:
                throw BadStorageText(
                    "the URL names only one of sslcert and sslkey",
                    remedy: "give both or none"
                )
            }
        }
    }
}

extension Substring {
    /// The text in front of a character and behind it; nil if it is not there.
    fileprivate func halves(at separator: Character) -> (Substring, Substring?) {
        guard let index = firstIndex(of: separator) else { return (self, nil) }
        return (self[..<index], self[self.index(after: index)...])
    }

    /// Nil if an escape is malformed, or the result is not UTF-8.
    fileprivate var percentDecoded: String? {
        var bytes: [UInt8] = []
        var rest = utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let escape = String(Substring(rest.prefix(2)))
            guard escape.utf8.count == 2, !escape.hasPrefix("+"),
                let value = UInt8(escape, radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
