import FoundationEssentials
import Settings
import TestSupport
import Testing

@testable import Agent

@Suite("Secrets come from their configured sources")
struct SecretSourceTests {
    let temporary: TemporaryDirectory

    init() throws {
        self.temporary = try TemporaryDirectory()
    }

    func file(_ bytes: [UInt8]) throws -> String {
        let path = temporary.file("secret")
        try Data(bytes).write(to: URL(filePath: path))
        return path
    }

    func failure(_ source: SecretSource, _ reference: SecretReference) -> String? {
        #expect(throws: SecretSource.Failure.self) { try source.read(reference) }?.description
    }

    @Test(
        "One line end at the end is the editor's; all else is the secret's",
        arguments: [
            ("s3cret", "s3cret"), ("s3cret\n", "s3cret"), ("s3cret\r\n", "s3cret"),
            ("s3cret\n\n", "s3cret\n"), (" s3cret ", " s3cret "), ("ü\n", "ü"),
        ]
    )
    func lineEnds(content: String, secret: String) throws {
        let path = try file(Array(content.utf8))
        let source = SecretSource(environment: ["PASSWORD": content])
        #expect(try source.read(.file(path: path)) == secret)
        #expect(try source.read(.environment(variable: "PASSWORD")) == secret)
    }

    @Test("A credential is a file of the service manager's directory")
    func credential() throws {
        _ = try file(Array("s3cret".utf8))
        let source = SecretSource(environment: ["CREDENTIALS_DIRECTORY": temporary.path])
        #expect(try source.read(.credential(name: "secret")) == "s3cret")
        #expect(
            failure(SecretSource(environment: [:]), .credential(name: "secret"))
                == "credential \"secret\": the service manager passed no credentials; add "
                + "LoadCredential=secret to the unit"
        )
    }

    @Test("A credential from the directory of the packaged unit takes precedence")
    func credentialOfDirectory() throws {
        _ = try file(Array("general".utf8))
        try Data("of the unit".utf8).write(to: URL(filePath: temporary.file("realm-agent_secret")))
        let source = SecretSource(environment: ["CREDENTIALS_DIRECTORY": temporary.path])
        #expect(try source.read(.credential(name: "secret")) == "of the unit")
    }

    @Test("An unreadable secret is reported with its source and the reason, never with its content")
    func failures() throws {
        let source = SecretSource(environment: ["EMPTY": "\n"])
        let missing = temporary.file("none")
        #expect(
            failure(source, .file(path: missing))
                == "the file \(missing) cannot be read: there is no such file"
        )
        let binary = try file([0x73, 0xff, 0x74])
        #expect(failure(source, .file(path: binary)) == "the file \(binary) is not UTF-8 text")
        #expect(
            failure(source, .file(path: temporary.path))?
                .hasPrefix("the file \(temporary.path) cannot be read") == true
        )
        #expect(
            failure(source, .environment(variable: "EMPTY"))
                == "the environment variable EMPTY is empty"
        )
        #expect(
            failure(source, .environment(variable: "NONE"))
                == "the environment variable NONE is not set"
        )
    }
}
