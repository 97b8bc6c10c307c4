import Changesets
import Merge
import ServerStore
import Synchronization
import Versions

/// The places that the committed changesets of one history touch. Finds those that an upload must
/// be merged with, without reading the others.
///
/// Committed entries never change, except in a store that goes back and uses their versions again (server
/// on PostgreSQL, 7.1): the salt of the last one tells. Trimmed entries are just not found.
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

        /// A salt that only this history has at a version: nil if it has none.
        func proof(
            at version: ServerVersion,
            in file: ServerFile,
            _ store: any FileReading
        ) throws(StoreError) -> Salt? {
            // The changesets of a snapshot have no salts: the version that it replaces has.
            try store.salt(of: snapshot == .zero ? version : snapshot, in: file)
        }
    }

    private struct State {
        var end = ServerVersion.zero
        /// The subject's proof at the end; nil before the first entry.
        var proof: Salt?
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

    /// Whether the store still has the history up to the end.
    func isCurrent(in file: ServerFile, _ store: any FileReading) throws(StoreError) -> Bool {
        let (end, proof) = state.withLock { ($0.end, $0.proof) }
        guard end > .zero else { return true }
        return try subject.proof(at: end, in: file, store) == proof
    }

    /// Remembers the proof of a version, if that is still the last one.
    func prove(_ version: ServerVersion, by proof: Salt?) {
        state.withLock { if $0.end == version { $0.proof = proof } }
    }

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
