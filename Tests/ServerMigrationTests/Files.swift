import FoundationEssentials
import Synchronization
import TestSupport

/// Files of tests.
enum Files {
    private static let kept = Mutex<[TemporaryDirectory]>([])

    static func write(_ bytes: some Sequence<UInt8>, to path: String) throws {
        try Data(bytes).write(to: URL(filePath: path))
    }

    static func write(_ text: String, to path: String) throws {
        try write(text.utf8, to: path)
    }

    /// Keeps a directory until the process ends.
    static func keep(_ folder: TemporaryDirectory) {
        kept.withLock { $0.append(folder) }
    }
}
