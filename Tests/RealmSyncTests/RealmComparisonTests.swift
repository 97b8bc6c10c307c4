import AppServices
import Changesets
import Digests
import LocalRealm
import SQLite
import Schemas
import Scopes
import Synchronization
import TestSupport
import Testing

@testable import RealmSync

/// A server that lies in a comparison: any answer ends it with a result or a failure.
@Suite("A comparison with a hostile server")
struct RealmComparisonTests {
    private let temporary: TemporaryDirectory
    private let path: String

    init() throws {
        temporary = try TemporaryDirectory()
        path = temporary.file("stock.sqlite")
        var random = SplitMix64(seed: 1)
        let file = try RealmFile.open(
            LocalRealmConfiguration(
                path: path,
                owner: RealmOwner(appID: "shop", userID: "u", scope: .subscriptions),
                machineID: "machine",
                schema: RealmSchema([
                    ClassSchema(
                        name: "Item",
                        kind: .topLevel(
                            PrimaryKeySchema(name: "_id", type: .int, isNullable: false)
                        ),
                        properties: [
                            PropertySchema(name: "note", type: .string, isNullable: true)
                        ]
                    )
                ])
            ),
            clock: { 1_772_600_767_000 },
            random: &random
        )
        file.close()
        let connection = try Connection(path: path, .init(mode: .readWrite))
        defer { connection.close() }
        try connection.setTriggersEnabled(false)
        try connection.execute("INSERT INTO Item VALUES (1, 'one'), (2, 'two')")
    }

    /// Compares with a server that gives the answers one after the other, and the last one again.
    private func compare(
        _ answers: DigestResponse...
    ) async throws(VerificationFailure) -> RealmVerification {
        let held: HeldRealm
        do throws(LocalRealmError) {
            held = try await HeldRealm.open(path: path, on: DatabaseExecutor(label: "test"))
        } catch {
            throw VerificationFailure(error)
        }
        let rest = Mutex(answers[...])
        let comparison = RealmComparison(
            held: held,
            partition: nil,
            server: { (_) async throws(ComparisonFailure) in
                let answer = rest.withLock { $0.count > 1 ? $0.removeFirst() : $0.first }
                guard let answer else { throw .unsupported }
                return answer
            },
            report: { _ in }
        )
        do throws(VerificationFailure) {
            let result = try await comparison.run()
            await held.close()
            return result
        } catch {
            await held.close()
            throw error
        }
    }

    private func response(_ change: (inout DigestResponse) -> Void) -> DigestResponse {
        var response = DigestResponse(.compared, serverVersion: 7)
        change(&response)
        return response
    }

    private static let zeros = String(repeating: "0", count: 64)
    private static let buckets = String(repeating: "0", count: 4096)

    private func expectRefusal(_ response: DigestResponse) async {
        do throws(VerificationFailure) {
            _ = try await compare(response)
            Issue.record("accepted")
        } catch {
            guard case .refused = error else {
                Issue.record("\(error)")
                return
            }
        }
    }

    @Test("Texts that are not digests or keys are malformed")
    func malformed() async {
        typealias Entry = DigestResponse.ClassEntry
        for entry in [
            Entry(name: "Item", objects: -1, digest: Self.zeros, buckets: Self.buckets),
            Entry(name: "Item", objects: 1, digest: "zz", buckets: Self.buckets),
            Entry(name: "Item", objects: 1, digest: Self.zeros, buckets: ""),
            Entry(name: "Item", objects: .max, digest: Self.zeros + "0", buckets: Self.buckets),
        ] {
            await expectRefusal(response { $0.classes = [entry] })
        }
        for key in ["", "f", "zz", "ff", "01", String(repeating: "f", count: 100_000)] {
            await expectRefusal(
                response { $0.changed = [.init(className: "Item", key: key)] }
            )
        }
    }

    @Test("Missing classes, foreign classes and huge counts are differences, and end")
    func lies() async throws {
        let listed = response { response in
            response.objects = [
                .init(className: "Item", key: "", digest: "", properties: "")
            ]
        }
        await expectRefusal(listed, after: response { _ in })
        let empty = try await compare(response { _ in }, response { _ in })
        #expect(!empty.isEqual)
        #expect(empty.differences.map(\.kind) == [.extra, .extra])
        let huge = response { response in
            response.classes = ["Item", "Item", "Ghost"].map {
                .init(name: $0, objects: .max, digest: Self.zeros, buckets: Self.buckets)
            }
        }
        let result = try await compare(huge, response { $0.isTruncated = true })
        #expect(!result.isEqual)
        #expect(result.isTruncated)
    }

    private func expectRefusal(_ listed: DigestResponse, after first: DigestResponse) async {
        do throws(VerificationFailure) {
            _ = try await compare(first, listed)
            Issue.record("accepted")
        } catch {
            guard case .refused = error else {
                Issue.record("\(error)")
                return
            }
        }
    }

    @Test("A server that always moves, or changes its mind, is busy")
    func moving() async {
        var moved = DigestResponse(.moved, serverVersion: .max)
        for answers in [[moved], [response { _ in }, moved]] {
            do throws(VerificationFailure) {
                moved = answers[answers.count - 1]
                _ =
                    answers.count == 1
                    ? try await compare(answers[0]) : try await compare(answers[0], answers[1])
                Issue.record("accepted")
            } catch {
                guard case .busy = error else {
                    Issue.record("\(error)")
                    continue
                }
            }
        }
    }
}
