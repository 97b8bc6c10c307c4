import Changesets
import Merge
import ServerStore
import Synchronization
import Versions

/// The places that the committed changesets of one history touch. Finds those that an upload must
/// be merged with, without reading the others.
///
/// Committed entries never change, so the index is never wrong; trimmed entries are just not found.
final class HistoryIndex: Sendable {
    /// The history that an index covers.
    struct Subject: Hashable, Sendable {
        let file: ServerFileID
        /// The server file's generation: each has its own history.
        let generation: UInt64
        /// The indexed snapshot; 0: the history itself.
        var snapshot = ServerVersion.zero
        /// Whether only changesets with schema instructions are in the index. It is built without
        /// decoding the others.
        var isSchemaOnly = false
    }

    private struct State {
        var end = ServerVersion.zero
        var versions: [ServerVersion] = []
        /// The end of each version's numbers.
        var ends: [Int] = []
        var numbers: [UInt64] = []
        /// Versions that touch every place.
        var everywhere: Set<ServerVersion> = []
    }

    let subject: Subject
    private let state = Mutex(State())

    init(of subject: Subject) {
        self.subject = subject
    }

    /// The last indexed version.
    var end: ServerVersion { state.withLock { $0.end } }

    var sizeInBytes: Int {
        state.withLock { $0.numbers.count * 8 + $0.versions.count * 16 }
    }

    /// Adds the next committed changeset; ignores known ones.
    func append(_ version: ServerVersion, _ changeset: Changeset) {
        let numbers = TouchedPlaces(of: changeset).numbers
        state.withLock { state in
            guard version > state.end else { return }
            state.end = version
            state.versions.append(version)
            if let numbers {
                state.numbers.append(contentsOf: numbers)
            } else {
                state.everywhere.insert(version)
            }
            state.ends.append(state.numbers.count)
        }
    }

    /// Leaves the next committed changeset out.
    func skip(_ version: ServerVersion) {
        state.withLock { $0.end = max($0.end, version) }
    }

    /// Versions after one that may touch one of the places; nil: every place.
    func versions(after version: ServerVersion, touching places: Set<UInt64>?) -> [ServerVersion] {
        state.withLock { state in
            var found: [ServerVersion] = []
            var position = state.versions.partition(after: version)
            while position < state.versions.count {
                let start = position == 0 ? 0 : state.ends[position - 1]
                let current = state.versions[position]
                if places.map({ places in
                    state.numbers[start..<state.ends[position]].contains { places.contains($0) }
                }) ?? true || state.everywhere.contains(current) {
                    found.append(current)
                }
                position += 1
            }
            return found
        }
    }
}

extension [ServerVersion] {
    /// The position of the first version after one, in an array in order.
    fileprivate func partition(after version: ServerVersion) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] > version { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
