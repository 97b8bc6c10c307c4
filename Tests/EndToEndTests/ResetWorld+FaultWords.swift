import FoundationEssentials
import TestSupport
import Testing

/// A fault has one code, and one remedy, wherever an operator looks.
extension ResetWorld {
    struct FaultReport: Decodable {
        struct Realm: Decodable {
            struct Issue: Decodable {
                let code: String
            }

            let state: String
            let detail: String?
            let error: Issue?
            let remedy: String?
        }

        let realms: [Realm]
    }

    func faultStatus() async throws -> FaultReport.Realm? {
        let outcome = try await agent("north", "status", "--json")
        let report = try? JSONDecoder().decode(FaultReport.self, from: Data(outcome.output.utf8))
        return report?.realms.first
    }

    /// Checks that everything that tells of the fault names the code and the remedy.
    func expectWords(
        _ code: String,
        _ state: String,
        exit: Int32,
        remedy: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let isThere = try await eventually {
            let status = try await faultStatus()
            return status?.state == state && status?.error?.code == code
        }
        let status = try await faultStatus()
        let log = deployment.log("north")
        #expect(
            isThere,
            "\(String(describing: status)) \(log)",
            sourceLocation: sourceLocation
        )
        #expect(status?.remedy?.contains(remedy) == true, sourceLocation: sourceLocation)
        let table = try await agent("north", "status")
        #expect(table.output.contains(remedy), "\(table.output)", sourceLocation: sourceLocation)
        var doctor = ""
        // The agent may be trying again at the moment of a look.
        let isFound = try await eventually {
            doctor = try await agent("north", "doctor").output
            let finding = doctor.split(separator: "\n").first { $0.contains("  realm  stock: ") }
            return finding?.contains(state) == true && finding?.contains(remedy) == true
        }
        #expect(isFound, "\(doctor)", sourceLocation: sourceLocation)
        #expect(
            log.split(separator: "\n").contains {
                $0.contains("code=\(code)") && $0.contains(remedy)
            },
            "\(log)",
            sourceLocation: sourceLocation
        )
        let sync = try await agent("north", "sync", "--timeout", "60s")
        #expect(sync.status == exit, "\(sync.errors)", sourceLocation: sourceLocation)
        #expect(sync.errors.contains(remedy), "\(sync.errors)", sourceLocation: sourceLocation)
    }
}
