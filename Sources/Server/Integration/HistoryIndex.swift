import Changesets
import Merge
import Synchronization
import Versions

/// Which places the committed changesets of one history touch: those that an upload has to be merged with
/// are found without reading all the others again.
///
/// What is committed does not change, so nothing here is ever wrong; what was trimmed is just not found.
final class HistoryIndex: Sendable {
    /// What an index is of.
    struct Subject: Hashable, Sendable {
        let file: ServerFileID
        /// Of the server file: another one is another history.
        let generation: UInt64
        /// The snapshot that is indexed; 0: the history itself.
        var snapshot = ServerVersion.zero
    }

    private struct State {
        var end = ServerVersion.zero
        var versions: [ServerVersion] = []
        /// Where the numbers of each version end.
        var ends: [Int] = []
        var numbers: [UInt64] = []
        /// Versions that concern everything.
        var everywhere: Set<ServerVersion> = []
    }

    let subject: Subject
    private let state = Mutex(State())

    init(of subject: Subject) {
        self.subject = subject
    }

    /// Everything up to here is known.
    var end: ServerVersion { state.withLock { $0.end } }

    var sizeInBytes: Int {
        state.withLock { $0.numbers.count * 8 + $0.versions.count * 16 }
    }

    /// Adds the next committed changeset; those that are known already change nothing.
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
