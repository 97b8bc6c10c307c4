package import Changesets
import Synchronization
package import Versions

/// Random numbers, shared by all tasks of the server.
///
/// In production it must be a cryptographic generator, such as the system's; a simulation supplies
/// a repeatable one.
package final class RandomSource: Sendable {
    private let generator: Mutex<any RandomNumberGenerator & Sendable>

    package init(_ generator: any RandomNumberGenerator & Sendable) {
        self.generator = Mutex(generator)
    }

    /// Non-zero and below 2^63, as salts must be (sync history, 1).
    package func salt() -> Salt {
        Salt(generator.withLock { UInt64.random(in: 1...UInt64(Int64.max), using: &$0) })
    }

    /// The epoch of a new session: not zero, and below 2^63. It is random because a store that goes back
    /// would give the numbers of a counter twice.
    package func sessionEpoch() -> UInt64 {
        salt().rawValue
    }

    /// That many random bytes.
    package func bytes(_ count: Int) -> [UInt8] {
        generator.withLock { generator in
            (0..<count).map { _ in UInt8.random(in: 0...UInt8.max, using: &generator) }
        }
    }

    /// An identifier in the usual form: seconds first, then random bytes.
    package func objectID(at clock: WallClock) -> ObjectID {
        let seconds = UInt32(truncatingIfNeeded: clock.secondsSince1970)
        let time = stride(from: 24, through: 0, by: -8).map {
            UInt8(truncatingIfNeeded: seconds >> UInt32($0))
        }
        guard let value = ObjectID(bytes: time + bytes(8)) else {
            preconditionFailure("twelve bytes are an object identifier")
        }
        return value
    }
}
