import Settings
import YAML

/// `server.storage`: a text, or `postgresql` with its keys (server on PostgreSQL, 8).
extension NodeReader {
    func storage(_ files: NamedFiles?) -> StorageLocation? {
        either(
            scalar: { $0.storageText(files) },
            collection: { node in
                node.mapping { keys in
                    keys.required("postgresql") { $0.postgreSQL(files) }
                        .map { StorageLocation.postgreSQL($0) }
                }
            }
        )
    }

    private func storageText(_ files: NamedFiles?) -> StorageLocation? {
        guard let text = string() else { return nil }
        do throws(BadStorageText) {
            let location = try StorageLocation(text: text)
            if case .postgreSQL(let location) = location { checkFiles(of: location, files) }
            return location
        } catch {
            report(error.hasSecret ? .plainSecret : .badValue, error.problem, remedy: error.remedy)
            return nil
        }
    }

    private func postgreSQL(_ files: NamedFiles?) -> PostgreSQLLocation? {
        mapping { keys in
            let hosts = keys.required("hosts") { $0.hosts() }
            let database = keys.required("database") { $0.name("of a database") }
            let user = keys.required("user") { $0.name("of a role") }
            let password = keys.optional("password") { $0.databasePassword() }
            let tls = keys.optional("tls") { $0.choice(of: PostgreSQLLocation.TLSMode.self) }
            let authorities = keys.optional("ca") { $0.absolutePath() }
            let certificate = keys.optional("client_certificate") { $0.certificate(nil) }
            let schema = keys.optional("schema") { $0.schemaName() }
            let pool = keys.optional("pool", default: PostgreSQLLocation.standardPool) {
                $0.integer(in: 1...100)
            }
            guard let hosts, !hosts.isEmpty, let database, let user else { return nil }
            let location = PostgreSQLLocation(
                hosts: hosts,
                database: database,
                user: user,
                password: password,
                tls: tls,
                authorities: authorities ?? PostgreSQLLocation.standardAuthorities,
                clientCertificate: certificate,
                schema: schema ?? PostgreSQLLocation.standardSchema,
                pool: pool
            )
            if let conflict = location.conflict {
                report(.conflict, "\(conflict.key) \(conflict.problem)", remedy: conflict.remedy)
                return nil
            }
            if location.tls == .off, authorities != nil {
                report(
                    .conflict,
                    "ca does not go with connections without TLS",
                    remedy: "remove it, or set tls to verify-full"
                )
                return nil
            }
            checkFiles(of: location, files)
            return location
        }
    }

    /// Warns of a network without TLS, and checks the files that exist for this program.
    private func checkFiles(of location: PostgreSQLLocation, _ files: NamedFiles?) {
        if location.tls == .off, location.hosts.contains(where: \.isRemote) {
            report(
                .insecure,
                severity: .warning,
                "the connection to the database can be read and changed on its way",
                remedy: "set tls to verify-full, unless the network is the machine's own"
            )
        }
        guard let files else { return }
        if location.tls != .off { files.checkReadable(location.authorities, at: self) }
        if let certificate = location.clientCertificate { files.check(certificate, at: self) }
        switch location.password {
        case nil: break
        case .secret(let reference): files.check(reference, at: self)
        case .passfile(let path):
            files.checkReadable(path, at: self)
            files.checkPrivacy(of: .file(path: path), at: self)
        }
    }

    private func hosts() -> [PostgreSQLLocation.Host]? {
        if case .sequence(let list) = node.content, list.isEmpty {
            report(.badValue, "is an empty list", remedy: "name the database's hosts")
            return nil
        }
        return elements { node in
            node.string(
                matching: { PostgreSQLLocation.Host($0) != nil },
                expected: "a host such as db1:5432, or the directory of a socket"
            ).flatMap { PostgreSQLLocation.Host($0) }
        }
    }

    private func name(_ meaning: String) -> String? {
        string(
            matching: NameText.isValid,
            expected: "the name \(meaning), of at most \(NameText.limitInBytes) bytes"
        )
    }

    func schemaName() -> String? {
        string(
            matching: NameText.isValidSchema,
            expected: "the name of a schema, not beginning with pg_, of at most "
                + "\(NameText.limitInBytes) bytes"
        )
    }

    private func databasePassword() -> PostgreSQLLocation.Password? {
        secret(
            otherForms: [("passfile", "{ passfile: PATH }")],
            { .secret($0) },
            other: { _, value in value.absolutePath().map { .passfile(path: $0) } }
        )
    }
}

extension PostgreSQLLocation {
    /// Settings that contradict each other.
    var conflict: (key: String, problem: String, remedy: String)? {
        if tls != .off, !hosts.contains(where: \.isNetwork) {
            return (
                "tls", "does not go with sockets, which have none",
                "remove it, or name hosts instead of directories"
            )
        }
        if tls == .off, clientCertificate != nil {
            return (
                "client_certificate", "does not go with connections without TLS",
                "remove it, or set tls to verify-full"
            )
        }
        return nil
    }
}
