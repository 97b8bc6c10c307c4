package import Coordination
import Synchronization

/// Keeps JSON lines on disk until a program has taken them (flexible sync, 14).
///
/// Lines are durable when `append` returns, and delivered at least once, in order. Those of a batch,
/// the removal of which a crash has prevented, come again. Calls block on the disk.
package final class Spool: Sendable {
    private let directory: SpoolDirectory
    private let limits: Limits
    private let state: Mutex<State>
    /// Raised when there may be a batch; one task waits for it.
    package let content = Signal()
    /// Raised when a batch was removed; one task waits for it.
    package let room = Signal()

    package struct Limits: Sendable {
        /// Bytes on disk; a line takes 18 more than its JSON.
        package var sizeInBytes: Int
        /// A segment of this size is a batch; the last line may exceed it.
        package var batchSizeInBytes: Int

        package init(sizeInBytes: Int = 256 << 20, batchSizeInBytes: Int = 1 << 20) {
            self.sizeInBytes = sizeInBytes
            self.batchSizeInBytes = batchSizeInBytes
        }
    }

    private struct State: ~Copyable {
        /// Those that no line is added to, oldest first.
        var sealed: [(number: UInt64, size: Int)]
        var open: SpoolSegment?
        var next: UInt64
        var size: Int

        init(_ segments: [(number: UInt64, size: Int)]) {
            self.sealed = segments
            self.open = nil
            self.next = (segments.last?.number ?? 0) &+ 1
            self.size = segments.reduce(0) { $0 + $1.size }
        }

        mutating func seal() {
            if let segment = open.take() { sealed.append((segment.number, segment.size)) }
        }
    }

    /// - Parameter directory: created if it is missing; its parent must exist.
    package init(_ directory: String, limits: Limits = Limits()) throws(SpoolError) {
        let directory = try SpoolDirectory(directory)
        let segments = try directory.segments()
        self.directory = directory
        self.limits = limits
        self.state = Mutex(State(segments))
        if !segments.isEmpty { content.raise() }
    }

    /// Bytes on disk.
    package var size: Int { state.withLock { $0.size } }

    /// Appends lines durably, all or none of them.
    ///
    /// - Parameter lines: JSON without line breaks.
    /// - Throws: `.full` if they do not fit beside those that wait. Lines that exceed the limit alone
    ///   fit into an empty spool.
    package func append(_ lines: [[UInt8]]) throws(SpoolError) {
        guard !lines.isEmpty else { return }
        let bytes = lines.flatMap(SpoolLine.encode)
        let result = state.withLock { (state) -> Result<Void, SpoolError> in
            do throws(SpoolError) {
                try append(bytes, to: &state)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try result.get()
        content.raise()
    }

    private func append(_ bytes: [UInt8], to state: inout State) throws(SpoolError) {
        guard state.size == 0 || bytes.count <= limits.sizeInBytes - state.size else {
            throw SpoolError(
                .full,
                "\(directory.path) has \(state.size) bytes that its program has not taken; "
                    + "the limit is \(limits.sizeInBytes)"
            )
        }
        if state.open == nil {
            state.open = try SpoolSegment(state.next, in: directory)
            state.next &+= 1
        }
        do throws(SpoolError) {
            try state.open?.append(bytes)
        } catch {
            state.seal()
            throw error
        }
        state.size += bytes.count
        if (state.open?.size ?? 0) >= limits.batchSizeInBytes { state.seal() }
    }

    // MARK: Batches

    /// Lines to deliver together.
    package struct Batch: Sendable {
        let number: UInt64
        let size: Int
        /// JSON lines, each with its line break.
        package let lines: [UInt8]
        package let count: Int
        /// Bytes at its end that a crash left behind, and that were never acknowledged.
        package let tornBytes: Int
    }

    /// The oldest lines; the same again until they are removed. Nil: there are none.
    package func nextBatch() throws(SpoolError) -> Batch? {
        while true {
            let oldest = state.withLock { state in
                if state.sealed.isEmpty { state.seal() }
                return state.sealed.first
            }
            guard let oldest else { return nil }
            let (lines, count, torn) = SpoolLine.decode(try directory.read(oldest.number))
            let batch = Batch(
                number: oldest.number,
                size: oldest.size,
                lines: lines,
                count: count,
                tornBytes: torn
            )
            if count > 0 { return batch }
            try remove(batch)
        }
    }

    /// Ends a batch that was delivered.
    package func remove(_ batch: Batch) throws(SpoolError) {
        try directory.remove(batch.number)
        state.withLock { state in
            guard state.sealed.first?.number == batch.number else { return }
            state.sealed.removeFirst()
            state.size -= batch.size
        }
        room.raise()
    }
}
