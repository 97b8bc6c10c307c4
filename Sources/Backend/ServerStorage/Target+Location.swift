import Glibc
package import PostgreSQL
package import ServerConfig
import Settings

extension Target {
    /// The configured database.
    ///
    /// - Parameter secrets: reads the password, again for each connection.
    package init(_ location: PostgreSQLLocation, _ secrets: SecretReader) {
        self.init(
            hosts: location.hosts.map { Host($0) },
            database: location.database,
            user: location.user,
            password: Self.password(location, secrets),
            tls: TLS(location),
            clientCertificate: location.clientCertificate.map {
                ClientCertificate(certificateFile: $0.certificate, keyFile: $0.key)
            },
            schema: location.schema
        )
    }

    private static func password(
        _ location: PostgreSQLLocation,
        _ secrets: SecretReader
    ) -> Password? {
        switch location.password {
        case nil: nil
        case .secret(let reference):
            { _ throws(PasswordUnavailable) in
                do throws(SecretReader.Missing) {
                    return try secrets.read(reference)
                } catch {
                    throw PasswordUnavailable(reason: error.description)
                }
            }
        case .passfile(let path):
            { host throws(PasswordUnavailable) in
                try checkPrivacy(of: path)
                do throws(SecretReader.Missing) {
                    return PasswordFile(try secrets.read(.file(path: path)))
                        .password(for: host, database: location.database, user: location.user)
                } catch {
                    throw PasswordUnavailable(reason: error.description)
                }
            }
        }
    }

    /// As PostgreSQL's own programs do: a file that others can read is not used.
    private static func checkPrivacy(of path: String) throws(PasswordUnavailable) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & 0o077 != 0 else { return }
        throw PasswordUnavailable(reason: "\(path) can be used by others; chmod 600 \(path)")
    }
}

extension Target.Host {
    fileprivate init(_ host: PostgreSQLLocation.Host) {
        self =
            switch host {
            case .socket(let directory, let port): .socket(directory: directory, port: port)
            case .network(let name, let port): .network(name: name, port: port)
            }
    }
}

extension Target.TLS {
    fileprivate init(_ location: PostgreSQLLocation) {
        self =
            switch location.tls {
            case .off: .off
            case .verifyAuthority: .verifyAuthority(file: location.authorities)
            case .verifyFull: .verifyFull(file: location.authorities)
            }
    }
}
