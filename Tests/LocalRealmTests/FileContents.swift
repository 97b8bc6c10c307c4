import FoundationEssentials

/// Whole files, for tests that look at their bytes.
enum FileContents {
    static func bytes(of path: String) -> [UInt8]? {
        (try? Data(contentsOf: URL(filePath: path))).map { Array($0) }
    }
}
