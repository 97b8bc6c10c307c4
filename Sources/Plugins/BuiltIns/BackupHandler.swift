import FoundationEssentials
import Platform
import Scheduling

/// `backup-realm`: copies the realm when the event arrives, and keeps the newest copies.
struct BackupHandler: RealmHandler {
    let directory: String
    let keep: Int
    let files: any RealmFiles
    let now: @Sendable () -> WallTime

    func handle(_ request: HandlerRequest) async throws(HandlerFailure) -> HandlerReply {
        let realm = request.subject.realm
        do throws(RealmFilesFailure) {
            try await files.copy(
                realmAt: request.subject.path,
                to: "\(directory)/\(realm)-\(now().compactText).sqlite"
            )
        } catch {
            throw .storage(error.reason)
        }
        try prune(realm)
        return .continue
    }

    /// Deletes only files with generated names, and none if the newest cannot be identified.
    private func prune(_ realm: String) throws(HandlerFailure) {
        do {
            let copies = try FileManager.default.contentsOfDirectory(atPath: directory)
                .filter { isCopy($0, of: realm) }
                .sorted()
            for name in copies.dropLast(keep) {
                try FileManager.default.removeItem(atPath: "\(directory)/\(name)")
            }
        } catch {
            throw .storage("old copies in \(directory) cannot be removed: \(error)")
        }
    }

    /// `REALM-20261120T223000123Z.sqlite`: names of other realms may start with this one's.
    private func isCopy(_ name: String, of realm: String) -> Bool {
        guard name.hasPrefix("\(realm)-"), name.hasSuffix(".sqlite") else { return false }
        let middle = name.dropFirst(realm.count + 1).dropLast(".sqlite".count)
        return middle.count == 19 && middle.last == "Z" && middle.first?.isNumber == true
            && middle.dropFirst(8).first == "T"
    }
}

extension WallTime {
    /// As part of a file's name: `20261120T223000123Z`.
    package var compactText: String {
        description.filter { $0 != "-" && $0 != ":" && $0 != "." }
    }
}
