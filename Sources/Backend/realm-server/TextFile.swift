import ArgumentParser
import FoundationEssentials

/// Reads a text file that an argument names.
enum TextFile {
    static func read(_ path: String) throws -> String {
        do {
            return String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        } catch {
            throw ValidationError("\(path) cannot be read")
        }
    }
}
