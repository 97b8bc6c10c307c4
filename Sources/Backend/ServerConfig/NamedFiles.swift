import Glibc
import Schemas
import Settings

/// Checks the files that a configuration names, before the server uses them. Mistakes are reported
/// at the key that names the file.
package struct NamedFiles: Sendable {
    private let secrets: SecretReader
    private let checks: any FileChecks

    package init(_ secrets: SecretReader, _ checks: any FileChecks) {
        self.secrets = secrets
        self.checks = checks
    }

    /// The schema of a file; nil, and reported, if it has none. Mistakes inside the file are reported
    /// at their position there.
    func checkSchema(_ path: String, at node: NodeReader) -> RealmSchema? {
        guard let (schema, diagnostics) = AppSchemaFile.parse(path) else {
            node.report(
                .unreadable,
                "\(path) cannot be read",
                remedy: "name a file that the server may read"
            )
            return nil
        }
        for diagnostic in diagnostics { node.diagnostics.report(diagnostic) }
        return schema
    }

    func check(_ files: CertificateFiles, at node: NodeReader) {
        do {
            try checks.check(files)
        } catch {
            node.report(
                .badValue,
                "\(error)",
                remedy: "name matching PEM files that the server may read"
            )
        }
    }

    func check(
        _ keys: JWTConfiguration.Keys,
        for algorithm: JWTConfiguration.Algorithm,
        at node: NodeReader
    ) {
        do {
            if try checks.holdSecrets(keys, for: algorithm, secrets) {
                for reference in keys.references { checkPrivacy(of: reference, at: node) }
            }
        } catch let error as SecretReader.Missing {
            node.report(
                .unreadable,
                // Only the service manager passes credentials: a check by hand cannot read them.
                severity: error.isAboutFile ? .error : .warning,
                error.description,
                remedy: "put the key where the configuration says it is"
            )
        } catch {
            node.report(.badValue, "\(error)", remedy: "see server.jwt_key in `man realm-errors`")
        }
    }

    /// A secret that a connection needs later.
    func check(_ reference: SecretReference, at node: NodeReader) {
        do throws(SecretReader.Missing) {
            _ = try secrets.read(reference)
            checkPrivacy(of: reference, at: node)
        } catch {
            node.report(
                .unreadable,
                // Only the service manager passes credentials: a check by hand cannot read them.
                severity: error.isAboutFile ? .error : .warning,
                error.description,
                remedy: "put the secret where the configuration says it is"
            )
        }
    }

    func checkReadable(_ path: String, at node: NodeReader) {
        guard access(path, R_OK) != 0 else { return }
        node.report(
            .unreadable,
            "\(path) cannot be read",
            remedy: "name a file that the server may read"
        )
    }

    /// A missing program may be installed later; the server starts without it.
    func checkProgram(_ path: String, at node: NodeReader) {
        guard access(path, X_OK) != 0 else { return }
        node.report(
            .unreadable,
            severity: .warning,
            "\(path) is not a program that can be run",
            remedy: "install it, or correct the path"
        )
    }

    /// Warns of a secret that every user of the machine can read.
    func checkPrivacy(of reference: SecretReference, at node: NodeReader) {
        guard case .file(let path) = reference else { return }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & 0o004 != 0 else { return }
        node.report(
            .insecure,
            severity: .warning,
            "\(path) can be read by all users",
            remedy: "chmod o-r \(path)"
        )
    }
}

extension JWTConfiguration.Keys {
    fileprivate var references: [SecretReference] {
        switch self {
        case .each(let references): references
        case .set(let reference): [reference]
        }
    }
}
