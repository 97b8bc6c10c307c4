import Config
import Control
import LocalRealm
import RealmSync
import Scopes

/// Resolves the words of a copy request into the form of the copy, and carries it out.
struct CopyRequestResolver {
    let request: CopyRequest
    /// Nil if the source is not a configured realm.
    let realm: RealmConfiguration?
    let users: [UserConfiguration]
    /// The id of a user that has logged in here; nil if it never has.
    let userID: @Sendable (UserConfiguration) async -> String?

    /// Copies a realm file.
    ///
    /// - Parameters:
    ///   - source: names the file in the report.
    ///   - now: milliseconds since 1970.
    ///   - note: gets the progress, twice a second.
    func copy(
        _ source: String,
        at path: String,
        now: Int64,
        note: @escaping @Sendable (CopyProgress) -> Void
    ) async throws(ControlError) -> CopyReport {
        let copy = RealmCopy(try await form(), now: now)
        let watch = CopyWatch(source: path, destination: request.path, note: note)
        do throws(LocalRealmError) {
            let result = await watch.during { () -> Result<RealmCopy.Report, LocalRealmError> in
                do throws(LocalRealmError) {
                    return .success(try await copy.makeOnThread(from: path, to: request.path))
                } catch {
                    return .failure(error)
                }
            }
            let report = try result.get()
            return CopyReport(
                source: source,
                path: request.path,
                sizeInBytes: report.sizeInBytes,
                pendingUploadBytes: report.pendingUploadBytes,
                rejected: report.rejected.count
            )
        } catch {
            throw ControlError(error)
        }
    }

    /// - Throws: `request.malformed`, `auth.unknown_user`, or `auth.logged_out` if the copy is for
    ///   a user without an account on this machine.
    private func form() async throws(ControlError) -> RealmCopy.Form {
        guard request.path.hasPrefix("/"), !request.path.split(separator: "/").contains("..") else {
            throw .malformed("the path of a copy is absolute, without \"..\"")
        }
        if request.toLocal ?? false {
            guard request.partition == nil, request.user == nil else {
                throw .malformed("a local file has neither a partition nor a user")
            }
            return .local
        }
        guard let text = request.partition else { return try await replica() }
        guard let partition = Partition(argument: text) else {
            throw .malformed(
                "\"\(text)\" is not a partition; write string:…, int:…, object_id:…, uuid:… or null"
            )
        }
        guard let user = try user ?? realm?.user else {
            throw .malformed("a partition belongs to an app: name one of its users")
        }
        let owner = RealmOwner(
            appID: user.app.appID,
            userID: try await id(of: user),
            scope: .partition(partition)
        )
        return .upload(owner)
    }

    private func replica() async throws(ControlError) -> RealmCopy.Form {
        guard let user = try user else { return .replica(userID: nil) }
        guard user.app.appID == realm?.user.app.appID else {
            throw .malformed(
                "a copy that continues from its source's progress must belong to a user "
                    + "of the same app; name a partition for a copy that is uploaded as a whole"
            )
        }
        return .replica(userID: try await id(of: user))
    }

    private var user: UserConfiguration? {
        get throws(ControlError) {
            guard let name = request.user else { return nil }
            guard let user = users.first(where: { $0.name == name }) else {
                throw .unknownUser(name)
            }
            return user
        }
    }

    private func id(of user: UserConfiguration) async throws(ControlError) -> String {
        guard let id = await userID(user) else {
            throw ControlError(
                code: "auth.logged_out",
                message: "user \"\(user.name)\" has not logged in here, so its id is not known",
                remedy: "`realm-agent users login \(user.name)`"
            )
        }
        return id
    }
}

extension ControlError {
    init(_ error: LocalRealmError) {
        self.init(
            code: error.code,
            message: "\(error.path): \(error.message)",
            remedy: error.remedy
        )
    }
}
