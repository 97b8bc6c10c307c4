import Migration
import TestSupport

extension ExportFiles {
    /// An app of the golden exports.
    init(fixture name: String) throws {
        var contents: [String: [UInt8]] = [:]
        var others: [String] = []
        for path in try Vectors.paths(under: "migration/apps/\(name)") {
            if path.hasSuffix(".json") {
                contents[path] = try Vectors.bytes(of: "migration/apps/\(name)/\(path)")
            } else {
                others.append(path)
            }
        }
        self.init(contents: contents, otherPaths: others)
    }
}

extension ImportedApp {
    func content(_ path: String) -> String? { files.first { $0.path == path }?.content }

    /// The places of findings of a code.
    func places(_ code: String) -> [String] {
        findings.all.filter { $0.code == code }.map { "\($0.file) \($0.place) \($0.problem)" }
    }
}
