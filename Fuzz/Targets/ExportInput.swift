import BSON
import Migration

/// The files of an export: each is a line with its path, then its content up to a line of `--`. Users of the service are
/// in `users.json`.
enum ExportInput {
    static func run(_ bytes: [UInt8], _ claims: inout Claims) {
        var contents: [String: [UInt8]] = [:]
        var others: [String] = []
        for part in bytes.split(separator: Array("\n--\n".utf8), maxSplits: 40) {
            let line = part.prefix { $0 != UInt8(ascii: "\n") }
            let path = String(decoding: line, as: UTF8.self)
            if path.hasSuffix(".json") {
                contents[path] = Array(part.dropFirst(line.count + 1))
            } else {
                others.append(path)
            }
        }
        for tree in (try? JSONTree.sequence(parsing: contents["users.json"] ?? [])) ?? [] {
            _ = HostedUser.isPending(tree)
            _ = HostedUser(tree)
        }
        let files = ExportFiles(contents: contents, otherPaths: others)
        let options = AppImportOptions()
        _ = AppImport.surveyed(files, options)
        let app = AppImport.run(files, options)
        claims.check(
            !app.files.isEmpty || !app.findings.all.isEmpty,
            "an export is refused without a reason"
        )
    }
}
