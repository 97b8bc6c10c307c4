import BSON
package import Changesets
import Documents
package import Migration
import Schemas
package import Scopes
package import ServerStore

/// Writes the objects of an app as Extended JSON, from one state of the store (moving an app, 12).
package struct DataExport: Sendable {
    package struct Report: Sendable {
        /// Objects by the name of the file.
        package internal(set) var files: [String: Int] = [:]
        package internal(set) var losses = DocumentExport.Losses()

        package var exitStatus: Int32 { losses.isEmpty ? 0 : 1 }
    }

    private let store: any Store
    private let app: AppID
    private let map: CollectionMap?
    private let mode: ExtendedJSONText.Mode
    private static let atOnce = 2048

    package init(
        _ store: any Store,
        _ app: AppID,
        map: CollectionMap?,
        isRelaxed: Bool
    ) {
        self.store = store
        self.app = app
        self.map = map
        self.mode = isRelaxed ? .relaxed : .canonical
    }

    /// - Parameters:
    ///   - partition: nil: all realms.
    ///   - className: nil: all classes.
    ///   - progress: gets the number of objects so far.
    package func run(
        partition: Partition?,
        className: Text?,
        to output: OutputDirectory,
        progress: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws -> Report {
        try await store.holdingState { [self] held in
            var report = Report()
            var files: [String: LineFile] = [:]
            let realms = try await held.read { [app] in try $0.files(of: app) }
            for realm in realms where partition == nil || realm.partition == partition {
                let schema = try await held.read { try $0.schema(of: realm.id) }
                for owner in schema.classes where !owner.isEmbedded && !owner.isAsymmetric {
                    guard className == nil || owner.name == className else { continue }
                    let path = map?.collection(of: owner.name) ?? owner.name.description
                    let name = "\(Self.fileName(path)).json"
                    let file = try files[name] ?? LineFile("\(output.path)/\(name)")
                    files[name] = file
                    let before = report.files.values.reduce(0, +)
                    let part = try await export(owner, of: schema, realm, held, to: file) {
                        progress(before + $0)
                    }
                    report.files[name, default: 0] += part.count
                    report.losses += part.losses
                }
            }
            for file in files.values { try file.flush() }
            return report
        }
    }

    /// A name from outside must not lead to another directory.
    private static func fileName(_ path: String) -> String {
        String(path.map { $0 == "/" || $0 == "\0" ? "_" : $0 })
    }

    private struct Part: Sendable {
        var lines: [UInt8] = []
        var count = 0
        var last: ObjectKey?
        var losses = DocumentExport.Losses()
    }

    private func export(
        _ owner: ClassSchema,
        of schema: RealmSchema,
        _ realm: ServerFile,
        _ held: any HeldState,
        to file: LineFile,
        progress: (Int) -> Void
    ) async throws -> Part {
        var whole = Part()
        let export = DocumentExport(schema, map: map)
        let form = JSONForm(schema: schema)
        while true {
            let part = try await held.read { [mode, last = whole.last] snapshot in
                var part = Part()
                try snapshot.forEachDocument(of: owner.name, in: realm.id, after: last) {
                    key,
                    json throws(StoreError) in
                    let document: Document
                    do throws(FormError) {
                        document = try form.decodeDocument(json, of: owner)
                    } catch {
                        throw StoreError.damagedObject(of: owner.name, in: realm.id, error)
                    }
                    var text = ExtendedJSONText(mode)
                    text.write(
                        export.document(
                            document,
                            key: key,
                            of: owner,
                            in: realm.partition,
                            &part.losses
                        )
                    )
                    part.lines += text.bytes
                    part.lines.append(UInt8(ascii: "\n"))
                    part.count += 1
                    part.last = key
                    return part.count < Self.atOnce ? .next : .stop
                }
                return part
            }
            guard part.count > 0 else { return whole }
            try file.append(part.lines)
            whole.count += part.count
            progress(whole.count)
            whole.last = part.last
            whole.losses += part.losses
        }
    }

    /// Users as lines of a listing, without anything secret.
    package func exportUsers(to output: OutputDirectory) async throws -> Int {
        let file = try LineFile("\(output.path)/users.json")
        var last: UserID?
        var count = 0
        while true {
            let app = app
            let users = try await store.read { [last] in
                try $0.users(of: app, after: last, limit: Self.atOnce)
            }
            guard let end = users.last else { break }
            last = end.id
            for user in users { try file.append(try HostedUserLine(user).bytes()) }
            count += users.count
        }
        try file.flush()
        return count
    }
}

extension DocumentExport.Losses {
    fileprivate static func += (left: inout Self, right: Self) {
        left.digits += right.digits
        left.dates += right.dates
        left.texts += right.texts
    }
}
