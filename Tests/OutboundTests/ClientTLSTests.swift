import FoundationEssentials
import NIOSSL
import TestSupport
import Testing

@testable import Outbound

@Suite("Files for TLS")
struct ClientTLSTests {
    private let temporary: TemporaryDirectory

    init() throws {
        self.temporary = try TemporaryDirectory()
    }

    private func file(_ text: String) throws -> String {
        let path = temporary.file("\(UInt32.random(in: 0 ... .max)).pem")
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    private func problem(
        _ tls: ClientTLS,
        _ system: SystemAuthorities = .ofSystem
    ) -> ClientTLS.Problem? {
        do throws(ClientTLS.Problem) {
            _ = try tls.configuration(system: system)
            return nil
        } catch {
            return error
        }
    }

    private func problem(certificate: String, key: String) throws -> ClientTLS.Problem? {
        problem(ClientTLS(certificate: .init(file: try file(certificate), key: key)))
    }

    @Test("TLS versions before 1.2 are refused")
    func versions() throws {
        #expect(try ClientTLS().configuration().minimumTLSVersion == .tlsv12)
        let tls = ClientTLS(authorityFile: try file(LoopbackCertificate.certificate))
        #expect(try tls.configuration().minimumTLSVersion == .tlsv12)
    }

    @Test("Authorities, certificate and key that match are accepted")
    func good() throws {
        #expect(problem(ClientTLS()) == nil)
        let certificate = LoopbackCertificate.certificate
        #expect(problem(ClientTLS(authorityFile: try file(certificate))) == nil)
        #expect(try problem(certificate: certificate, key: LoopbackCertificate.key) == nil)
        let unverified = try ClientTLS(verifiesServer: false).configuration()
        #expect(unverified.certificateVerification == .none)
    }

    @Test("A missing file or one without a certificate is named, under its key")
    func badFiles() throws {
        let missing = problem(ClientTLS(authorityFile: "/nowhere/ca.pem"))
        #expect(missing?.key == "ca_file")
        #expect(missing?.problem == "/nowhere/ca.pem cannot be read")
        for text in ["", "hello", LoopbackCertificate.key] {
            let path = try file(text)
            let problem = problem(ClientTLS(authorityFile: path))
            #expect(problem?.key == "ca_file", "\(text.prefix(20))")
            #expect(problem?.problem == "\(path) holds no certificate")
        }
        let certificate = try problem(certificate: "hello", key: LoopbackCertificate.key)
        #expect(certificate?.key == "client_certificate.certificate")
    }

    @Test("An invalid key, or the key of another certificate, is reported, and never shown")
    func badKeys() throws {
        let certificate = LoopbackCertificate.certificate
        let noKey = try problem(certificate: certificate, key: "hunter2")
        #expect(noKey?.key == "client_certificate.key")
        #expect(noKey?.problem == "is not a private key")
        #expect(!"\(String(describing: noKey))".contains("hunter2"))
        let otherKey = try problem(certificate: certificate, key: StrangerCertificate.key)
        #expect(otherKey?.key == "client_certificate.key")
        #expect(otherKey?.problem.hasPrefix("is not the key of the certificate") == true)
        var dumped = ""
        dump(ClientTLS(certificate: .init(file: "/f", key: "hunter2")), to: &dumped)
        #expect(!dumped.contains("hunter2"))
    }

    @Test("A system without authorities is an error with a code, where TLS is certain")
    func noAuthorities() throws {
        let nothing = SystemAuthorities(files: ["/nowhere.crt"], directories: ["/nowhere"])
        #expect(
            "\(try #require(problem(ClientTLS(), nothing)))"
                == "tls.ca_file: is not set, and this system has no certificate authorities; install the "
                + "package ca-certificates, or name the file of the server's authority "
                + "[config.no_authorities]"
        )
        let certificate = try file(LoopbackCertificate.certificate)
        for usable in [
            ClientTLS(isCertain: false), ClientTLS(authorityFile: certificate),
            ClientTLS(verifiesServer: false),
            ClientTLS(
                certificate: .init(file: certificate, key: LoopbackCertificate.key),
                isCertain: false
            ),
        ] {
            let configuration = try usable.configuration(system: nothing)
            #expect(throws: Never.self) { try NIOSSLContext(configuration: configuration) }
        }
    }

    @Test("Authorities are a bundle that holds something, or links named by hashes")
    func systemAuthorities() throws {
        let (empty, bundle) = (try file(""), try file(LoopbackCertificate.certificate))
        let directory = temporary.file("certs")
        try FileManager.default.createDirectory(
            atPath: directory,
            withIntermediateDirectories: false
        )
        func exist(_ files: String...) -> Bool {
            SystemAuthorities(files: files, directories: [directory]).exist
        }
        #expect(!exist())
        #expect(!exist("/nowhere", directory))
        #expect(exist("/nowhere", bundle, empty))
        for name in ["README", "5ed36f99", "5ed36f9.00", "5ed36f99.r0", "5ed36f99."] {
            #expect(FileManager.default.createFile(atPath: "\(directory)/\(name)", contents: nil))
        }
        #expect(!exist())
        #expect(FileManager.default.createFile(atPath: "\(directory)/5ed36f99.0", contents: nil))
        #expect(exist())
        // The library reads a bundle that exists, and fails for an empty one.
        #expect(!exist(empty))
    }
}
