import AppServices
import Changesets
import Digests
import LocalRealm
import SQLite
import Versions

/// Compares one held state of a realm file with the server's realm, class by class and then object by object.
///
/// The server is not trusted: any answer ends the comparison with a result or a failure.
struct RealmComparison: Sendable {
    let held: HeldRealm
    /// Canonical Extended JSON; nil for subscriptions.
    let partition: String?
    let server: @Sendable (DigestRequest) async throws(ComparisonFailure) -> DigestResponse
    let report: @Sendable (VerificationStep) -> Void

    func run() async throws(VerificationFailure) -> RealmVerification {
        let state = held.state
        var digests: [Text: ClassDigest] = [:]
        for name in state.classes {
            report(.reading(className: name, objects: 0))
            do throws(LocalRealmError) {
                digests[name] = try await held.digest(of: name) { count in
                    report(.reading(className: name, objects: count))
                }
            } catch {
                throw VerificationFailure(error)
            }
        }
        report(.askingServer)
        let response = try await ask(state, list: nil)
        var verification = RealmVerification()
        verification.serverVersion = response.serverVersion
        switch response.outcome {
        case .moved: throw .busy("the server's realm changes too fast")
        case .schema:
            verification.schemaDifferences = response.schema ?? []
            return verification
        case .compared: break
        }
        let changed = try changedObjects(response)
        verification.changedObjects = changed.count
        try await remove(changed, from: &digests)
        let there = try serverDigests(response)
        var buckets: [Text: [Int]] = [:]
        for name in state.classes {
            let here = digests[name] ?? ClassDigest()
            let differing = here.differingBuckets(from: there[name] ?? ClassDigest())
            verification.classes.append(
                .init(name: name, objects: here.count, isEqual: differing.isEmpty)
            )
            if !differing.isEmpty { buckets[name] = differing }
        }
        guard !buckets.isEmpty else { return verification }
        report(.listingDifferences)
        try await list(buckets, &verification)
        return verification
    }

    /// Asks for the objects in which the digests differ, and compares them one by one.
    private func list(
        _ buckets: [Text: [Int]],
        _ verification: inout RealmVerification
    ) async throws(VerificationFailure) {
        let response = try await ask(held.state, list: buckets)
        guard response.outcome == .compared else {
            throw .busy("the server's realm changes too fast")
        }
        verification.isTruncated = response.isTruncated ?? false
        let excluded = Dictionary(grouping: try changedObjects(response), by: \.className)
        let listed = Dictionary(grouping: response.objects ?? [], by: \.className)
        for (name, buckets) in buckets.sorted(by: { $0.key < $1.key }) {
            let there = try (listed[name.description] ?? []).map {
                (entry) throws(VerificationFailure) in try Self.object(entry)
            }
            let here: [ComparedObject]
            do throws(LocalRealmError) {
                here = try await held.objects(
                    of: name,
                    in: Set(buckets),
                    without: Set(excluded[name, default: []].map(\.key))
                )
            } catch {
                throw VerificationFailure(error)
            }
            var differences = ObjectDifference.all(
                of: name,
                here: here,
                there: there,
                properties: held.state.properties[name] ?? []
            )
            // What the server did not list is not missing there.
            if verification.isTruncated { differences.removeAll { $0.kind == .extra } }
            verification.differences += differences
        }
    }

    private func remove(
        _ changed: [ObjectReference],
        from digests: inout [Text: ClassDigest]
    ) async throws(VerificationFailure) {
        do throws(LocalRealmError) {
            digests = try await held.remove(changed, from: digests)
        } catch {
            throw VerificationFailure(error)
        }
    }

    // MARK: The server's response

    private func ask(
        _ state: HeldRealm.State,
        list buckets: [Text: [Int]]?
    ) async throws(VerificationFailure) -> DigestResponse {
        func texts<Value>(_ names: [Text: Value]) -> [String: Value] {
            Dictionary(
                names.map { ($0.key.description, $0.value) },
                uniquingKeysWith: { first, _ in first }
            )
        }
        let request = DigestRequest(
            partition: partition,
            fileIdent: state.fileIdent.ident.rawValue,
            fileIdentSalt: state.fileIdent.salt.rawValue,
            serverVersion: state.serverVersion.rawValue,
            classes: texts(state.properties.mapValues { $0.map(\.description) }),
            list: buckets.map { texts($0) }
        )
        do throws(ComparisonFailure) {
            return try await server(request)
        } catch {
            switch error {
            case .logIn(let failure): throw .sync(RealmFailure(failure).result)
            case .unsupported: throw .unsupported
            case .busy(let reason): throw .busy(reason)
            case .refused(let reason): throw .refused(reason)
            }
        }
    }

    private func changedObjects(
        _ response: DigestResponse
    ) throws(VerificationFailure) -> [ObjectReference] {
        var objects: Set<ObjectReference> = []
        for entry in response.changed ?? [] {
            guard let key = Hexadecimal.bytes(of: entry.key).flatMap(CanonicalKey.decode) else {
                throw Self.unusable
            }
            objects.insert(ObjectReference(className: Text(entry.className), key: key))
        }
        return Array(objects)
    }

    private func serverDigests(
        _ response: DigestResponse
    ) throws(VerificationFailure) -> [Text: ClassDigest] {
        var digests: [Text: ClassDigest] = [:]
        for entry in response.classes ?? [] {
            let digest = ClassDigest(
                count: entry.objects,
                sum: entry.digest,
                buckets: entry.buckets
            )
            guard let digest else { throw Self.unusable }
            digests[Text(entry.name)] = digest
        }
        return digests
    }

    private static func object(
        _ entry: DigestResponse.ObjectEntry
    ) throws(VerificationFailure) -> ComparedObject {
        guard let key = Hexadecimal.bytes(of: entry.key).flatMap(CanonicalKey.decode),
            let digest = Hexadecimal.bytes(of: entry.digest).flatMap(ObjectDigest.init)
        else { throw unusable }
        return ComparedObject(key: key, digest: digest, properties: entry.properties)
    }

    private static let unusable = VerificationFailure.refused("the server's response is malformed")
}
