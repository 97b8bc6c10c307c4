import AppServices
package import Config
package import Control
import Coordination
import LocalRealm
import Platform
import RealmSync
import Scheduling

/// Copies a realm file while no agent runs, or a file that is not a configured realm.
package struct OfflineRealmCopier: Sendable {
    private let configuration: AgentConfiguration

    package init(_ configuration: AgentConfiguration) {
        self.configuration = configuration
    }

    /// - Parameters:
    ///   - source: the name of a realm, or the path of a file.
    ///   - note: gets the progress.
    package func copy(
        _ source: String,
        _ request: CopyRequest,
        _ note: @escaping @Sendable (CopyProgress) -> Void
    ) async throws(ControlError) -> CopyReport {
        let realm = try realm(source)
        let order = CopyRequestResolver(
            request: request,
            realm: realm,
            users: configuration.users,
            userID: { [configuration] user in try? configuration.storedAccount(of: user)?.userID }
        )
        return try await order.copy(
            source,
            at: realm?.path ?? source,
            now: WallTime.now().millisecondsSince1970,
            note: note
        )
    }

    /// Writes the source's objects into an existing realm file, as any program would.
    package func merge(
        _ source: String,
        into destination: String
    ) async throws(ControlError) -> CopyReport {
        let merge = RealmMerge(from: try realm(source)?.path ?? source)
        do throws(LocalRealmError) {
            let report = try await BlockingCall.run(label: "merge") {
                () throws(LocalRealmError) in try merge.merge(into: destination)
            }
            return CopyReport(
                source: source,
                path: destination,
                sizeInBytes: report.sizeInBytes,
                pendingUploadBytes: 0,
                rejected: 0,
                mergedObjects: report.objectCount
            )
        } catch {
            throw ControlError(error)
        }
    }

    /// Nil for the path of a file.
    private func realm(_ source: String) throws(ControlError) -> RealmConfiguration? {
        let realm = configuration.realms.first { $0.name == source }
        guard realm != nil || source.contains("/") else { throw .unknownRealm(source) }
        return realm
    }
}
