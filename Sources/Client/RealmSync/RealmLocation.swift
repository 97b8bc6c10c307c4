import Synchronization

/// The path of a realm's file, which may contain the id of its user.
///
/// All copies of a realm's options share it: the path is known once the user is.
package final class RealmLocation: Sendable {
    private let resolve: (@Sendable (_ userID: String) -> String)?
    private let current: Mutex<String>

    /// The same path for every user.
    package init(_ path: String) {
        self.resolve = nil
        self.current = Mutex(path)
    }

    /// A path of each user's own.
    ///
    /// - Parameters:
    ///   - placeholder: what is shown until the user is known.
    ///   - path: the path, given a user's id that is safe as a part of a path.
    package init(placeholder: String, path: @escaping @Sendable (_ userID: String) -> String) {
        self.resolve = path
        self.current = Mutex(placeholder)
    }

    /// The path for the user of the last ``locate(userID:)``.
    package var path: String { current.withLock { $0 } }

    /// Sets the path to that of a user. Ids come from the server: one that could lead elsewhere is refused.
    package func locate(userID: String) throws(UnusableScope) {
        guard let resolve else { return }
        guard Self.isSafe(userID) else {
            throw UnusableScope(
                reason: "the user's id cannot be a part of the path \(path): it may have 1 to 128 "
                    + "letters, digits, \"-\" and \"_\""
            )
        }
        let path = resolve(userID)
        current.withLock { $0 = path }
    }

    /// Whether the id is a plain name in every directory.
    package static func isSafe(_ userID: String) -> Bool {
        (1...128).contains(userID.utf8.count)
            && userID.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
