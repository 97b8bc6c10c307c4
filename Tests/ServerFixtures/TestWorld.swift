import FoundationEssentials
package import ServerStore
package import Surroundings
import Synchronization
import TestSupport

/// A clock that only moves on request.
package final class ManualClock: Sendable {
    private let milliseconds: Mutex<Int64>

    package init(milliseconds: Int64 = 1_790_000_000_000) {
        self.milliseconds = Mutex(milliseconds)
    }

    package func advance(bySeconds seconds: Int64) {
        milliseconds.withLock { $0 += seconds * 1000 }
    }

    package var wallClock: WallClock {
        WallClock { self.milliseconds.withLock { $0 } }
    }
}

extension RandomSource {
    package static func seeded(_ seed: UInt64 = 1) -> RandomSource {
        RandomSource(SplitMix64(seed: seed))
    }
}

/// A directory of its own for one test, removed at the end.
package func withTemporaryDirectory<Result>(
    _ body: (String) async throws -> Result
) async throws -> Result {
    let url = FileManager.default.temporaryDirectory
        .appending(path: "realm-server-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: url) }
    return try await body(url.path)
}

extension AppID {
    /// For names that tests write down.
    package static func named(_ name: String) -> AppID {
        guard let id = AppID(name) else { preconditionFailure("\(name) is not an app id") }
        return id
    }
}
