/// A changeset that creates objects and sets whole properties, and does nothing else: what inserts become.
///
/// It stays in its bytes. One pass over them finds the runs of instructions on one object, so that objects
/// are read one by one when they are written, without an `Instruction` for each value: for a changeset of
/// 100 000 objects of ten fields that saves 90 MiB and 3 µs of CPU per object. `Changeset(decoding:)`
/// gives the same instructions, and is the oracle in its tests.
package struct PlainChangeset: Sendable {
    package let bytes: [UInt8]
    package let strings: StringTable
    /// By class and key; those of one object in their order in the changeset.
    let runs: [Run]
    let layout: RecordLayout

    /// Instructions on one object, one after the other.
    struct Run: Sendable {
        /// Ascends with the key; different keys may share it.
        let keyPrefix: UInt64
        let className: InternIndex
        /// The first byte of its first record.
        let start: UInt32
        /// The first byte of the next run.
        var end: UInt32
        /// Position of its first instruction in the changeset.
        let firstInstruction: UInt32
        var instructionCount: UInt32

        var instructions: Range<Int> {
            Int(firstInstruction)..<Int(firstInstruction) + Int(instructionCount)
        }
    }

    /// Nil for any other changeset, for one that does not begin with a new object, and for bytes that
    /// cannot be decoded.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count <= UInt32.max else { return nil }
        let content = bytes.withUnsafeBufferPointer { buffer in
            var scanner = PlainScanner(buffer)
            return (try? scanner.scan()) ?? nil
        }
        guard let content else { return nil }
        self.bytes = bytes
        self.strings = content.strings
        self.runs = content.runs
        self.layout = content.layout
    }
}

extension PlainChangeset {
    /// At least the number of its objects.
    package var runCount: Int { runs.count }

    /// Positions in the decoded changeset of the instructions on some of its objects, ascending.
    package func instructions(on objects: [PlainObject.Place]) -> [Int] {
        objects.flatMap { runs[$0.runs] }.flatMap(\.instructions).sorted()
    }

    /// Whether it names an object that fulfils a condition.
    package func containsObject(where isSought: (ObjectReference) -> Bool) -> Bool {
        bytes.withUnsafeBufferPointer { buffer in
            runs.contains { isSought(object(of: $0, in: buffer)) }
        }
    }

    /// The objects that it names, each once for every run of instructions about it.
    package var objects: [ObjectReference] {
        bytes.withUnsafeBufferPointer { buffer in runs.map { object(of: $0, in: buffer) } }
    }

    private func object(of run: Run, in buffer: UnsafeBufferPointer<UInt8>) -> ObjectReference {
        let target = run.target(in: buffer, strings: strings.count)
        return ObjectReference(
            className: strings[target.className],
            key: strings.objectKey(target.key)
        )
    }
}
