import FoundationEssentials
import Testing

@Suite("The audit of `make endurance`", .timeLimit(.minutes(1)))
struct EnduranceAuditTests {
    @Test("It finds a write that is lost, twice, torn or in no ledger")
    func audit() async throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let script = tests.appending(path: "Endurance/audit_test.py").path
        let outcome = try await Programs.run("python3", [script])
        #expect(outcome.status == 0, "\(outcome.errors)")
    }
}
