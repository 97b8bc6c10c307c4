/// Finds the runs of a `PlainChangeset`, and checks each record as `ChangesetDecoder` does (changesets spec,
/// 3-7).
struct PlainScanner {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var reader: ByteReader
    private var strings = StringTable()
    private var runs: [PlainChangeset.Run] = []
    /// The bytes of the last run's target: its class and key.
    private var target = 0..<0
    private var instructionCount: UInt32 = 0
    private var records = RecordLayout()

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
        self.reader = ByteReader(bytes)
    }

    /// The parts that `PlainChangeset` keeps.
    struct Content {
        let strings: StringTable
        let runs: [PlainChangeset.Run]
        let layout: RecordLayout
    }

    /// The string table and the runs in order; nil unless the changeset is plain.
    mutating func scan() throws(DecodeError) -> Content? {
        while !reader.isAtEnd {
            let start = reader.offset
            switch try reader.readUnsigned(.bits64) {
            case InstructionCode.internString:
                guard try readInternRecord() else { return nil }
                records.addInternRecord(start..<reader.offset, isLeading: runs.isEmpty)
            case UInt64(InstructionCode.createObject.rawValue):
                try readTarget(from: start)
            case UInt64(InstructionCode.update.rawValue):
                guard !runs.isEmpty else { return nil }
                try readTarget(from: start)
                guard try skipAssignment() else { return nil }
            default:
                return nil
            }
        }
        guard !runs.isEmpty else { return nil }
        closeRun(at: reader.offset)
        sortRuns()
        records.isReencodedAlike = reader.isShortestForm
        return Content(strings: strings, runs: runs, layout: records)
    }

    private mutating func readInternRecord() throws(DecodeError) -> Bool {
        let index = try reader.readUnsigned(.bits32)
        guard index == strings.count else { return false }
        let text = Text(bytes: try reader.readBytes(try reader.readTextLength()))
        guard strings.index(of: text) == nil else { return false }
        _ = strings.intern(text)
        return true
    }

    private mutating func readTarget(from start: Int) throws(DecodeError) {
        if target.isEmpty || !reader.skipRepetition(of: target) {
            closeRun(at: start)
            let targetStart = reader.offset
            let object = try reader.readTarget(strings: strings.count)
            target = targetStart..<reader.offset
            runs.append(
                PlainChangeset.Run(
                    keyPrefix: object.key.sortingPrefix(strings),
                    className: object.className,
                    start: UInt32(start),
                    end: UInt32(start),
                    firstInstruction: instructionCount,
                    instructionCount: 0
                )
            )
        }
        instructionCount += 1
        runs[runs.count - 1].instructionCount += 1
    }

    private mutating func closeRun(at end: Int) {
        if !runs.isEmpty { runs[runs.count - 1].end = UInt32(end) }
    }

    /// Steps over the rest of an Update; false if it has a path, or is not of a single value.
    private mutating func skipAssignment() throws(DecodeError) -> Bool {
        _ = try reader.readInternIndex(below: strings.count)
        guard try reader.readUnsigned(.bits32) == 0 else { return false }
        switch try reader.readTypeCode() {
        case .null: break
        case .int: _ = try reader.readSigned(.bits64)
        case .bool: _ = try reader.readBool()
        case .string: try reader.skip(try reader.readTextLength())
        case .binary: try reader.skip(try reader.readUnsigned(.bits64))
        case .timestamp: _ = try reader.readTimestamp()
        case .float: try reader.skip(4)
        case .double: try reader.skip(8)
        case .decimal: _ = try reader.readDecimal()
        case .link:
            _ = try reader.readInternIndex(below: strings.count)
            _ = try reader.readPrimaryKey(strings: strings.count)
        case .objectID: try reader.skip(12)
        case .uuid: try reader.skip(16)
        case .globalKey, .objectValue, .dictionary, .list, .set, .erased: return false
        }
        _ = try reader.readBool()
        return true
    }
}

// MARK: Order

extension PlainScanner {
    /// The tables' indexes are then walked in order, and runs of one object are neighbours.
    private mutating func sortRuns() {
        let (bytes, strings) = (bytes, strings)
        runs.sort { left, right in
            if left.className != right.className {
                return left.className.rawValue < right.className.rawValue
            }
            if left.keyPrefix != right.keyPrefix { return left.keyPrefix < right.keyPrefix }
            let leftKey = left.target(in: bytes, strings: strings.count).key
            let rightKey = right.target(in: bytes, strings: strings.count).key
            return leftKey == rightKey
                ? left.start < right.start
                : leftKey.precedes(rightKey, strings)
        }
    }

}

extension PlainChangeset.Run {
    /// The target in the bytes that the run was found in.
    func target(
        in bytes: UnsafeBufferPointer<UInt8>,
        strings count: Int
    ) -> Instruction.ObjectTarget {
        var reader = ByteReader(bytes, at: Int(start))
        do throws(DecodeError) {
            _ = try reader.readUnsigned(.bits64)
            return try reader.readTarget(strings: count)
        } catch {
            preconditionFailure("a scanned target can be read again")
        }
    }
}

extension PrimaryKey {
    /// Ascends with the order of keys; keys of different types may have any.
    fileprivate func sortingPrefix(_ strings: StringTable) -> UInt64 {
        switch self {
        case .null: 0
        case .int(let value): UInt64(bitPattern: value) ^ (1 << 63)
        case .string(let index): strings[index].bytes.sortingPrefix
        case .objectID(let value): value.high
        case .uuid(let value): value.high
        case .globalKey(let value): value.high
        }
    }

    /// Some order of keys, in which equal keys are neighbours; for keys of one type that of their columns.
    fileprivate func precedes(_ other: PrimaryKey, _ strings: StringTable) -> Bool {
        switch (self, other) {
        case (.int(let left), .int(let right)): left < right
        case (.string(let left), .string(let right)): strings[left] < strings[right]
        case (.objectID(let left), .objectID(let right)): left < right
        case (.uuid(let left), .uuid(let right)): left < right
        case (.globalKey(let left), .globalKey(let right)):
            (left.high, left.low) < (right.high, right.low)
        default: rank < other.rank
        }
    }

    private var rank: Int {
        switch self {
        case .null: 0
        case .int: 1
        case .string: 2
        case .objectID: 3
        case .uuid: 4
        case .globalKey: 5
        }
    }
}

extension [UInt8] {
    /// The first eight bytes as a number, zeros behind shorter ones.
    fileprivate var sortingPrefix: UInt64 {
        var prefix: UInt64 = 0
        for index in 0..<8 { prefix = prefix << 8 | (index < count ? UInt64(self[index]) : 0) }
        return prefix
    }
}
