import BSON

/// The files of an export, by path below its root.
package struct ExportFiles: Sendable {
    private let contents: [String: [UInt8]]
    /// All files, also those whose content was not read.
    package let paths: [String]

    /// - Parameters:
    ///   - contents: of the files whose names end in `.json`.
    package init(contents: [String: [UInt8]], otherPaths: [String] = []) {
        self.contents = contents
        self.paths = (Array(contents.keys) + otherPaths).sorted()
    }

    func has(_ path: String) -> Bool { contents[path] != nil }

    func bytes(_ path: String) -> [UInt8]? { contents[path] }

    /// Paths of JSON files that begin with a folder's name and `/`.
    func jsonPaths(in folder: String) -> [String] {
        paths.filter { $0.hasPrefix(folder + "/") && $0.hasSuffix(".json") && has($0) }
    }
}

/// A file of JSON, with the strings of its environment filled in.
struct ExportedFile {
    let path: String
    let content: JSONTree
}
