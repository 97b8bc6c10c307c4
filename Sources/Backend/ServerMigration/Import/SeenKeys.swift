import Glibc

/// A set of 64-bit fingerprints that needs no memory of its own: its table is in a file without a name,
/// which the kernel may write out.
///
/// Two keys may have one fingerprint; of ten million the chance is one in three hundred thousand.
final class SeenKeys {
    private var table: UnsafeMutableBufferPointer<UInt64>
    private(set) var count = 0

    /// Grows above this part of its places.
    private static let fullness = (numerator: 3, denominator: 5)

    init() throws(MigrationFailure) {
        self.table = try Self.map(places: 1 << 16)
    }

    deinit {
        munmap(table.baseAddress, table.count * MemoryLayout<UInt64>.stride)
    }

    /// False if it was there already.
    func insert(_ fingerprint: UInt64) throws(MigrationFailure) -> Bool {
        if count * Self.fullness.denominator >= table.count * Self.fullness.numerator {
            try grow()
        }
        let isNew = Self.put(fingerprint, into: table)
        if isNew { count += 1 }
        return isNew
    }

    func contains(_ fingerprint: UInt64) -> Bool {
        let value = fingerprint | 1
        var place = Self.start(value, table.count)
        while table[place] != 0 {
            if table[place] == value { return true }
            place = (place + 1) & (table.count - 1)
        }
        return false
    }

    private static func start(_ value: UInt64, _ places: Int) -> Int {
        Int(truncatingIfNeeded: value >> 1) & (places - 1)
    }

    /// Zero marks a free place: the lowest bit is always set.
    private static func put(
        _ fingerprint: UInt64,
        into table: UnsafeMutableBufferPointer<UInt64>
    ) -> Bool {
        let value = fingerprint | 1
        var place = start(value, table.count)
        while table[place] != 0 {
            if table[place] == value { return false }
            place = (place + 1) & (table.count - 1)
        }
        table[place] = value
        return true
    }

    private func grow() throws(MigrationFailure) {
        let larger = try Self.map(places: table.count * 2)
        for value in table where value != 0 { _ = Self.put(value, into: larger) }
        munmap(table.baseAddress, table.count * MemoryLayout<UInt64>.stride)
        table = larger
    }

    private static func map(
        places: Int
    ) throws(MigrationFailure) -> UnsafeMutableBufferPointer<UInt64> {
        let size = places * MemoryLayout<UInt64>.stride
        let descriptor = try TemporaryFile.open()
        defer { close(descriptor) }
        guard ftruncate(descriptor, size) == 0,
            let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
            memory != MAP_FAILED
        else { throw TemporaryFile.failure }
        return UnsafeMutableBufferPointer(
            start: memory.bindMemory(to: UInt64.self, capacity: places),
            count: places
        )
    }
}

/// Files that vanish with the process.
enum TemporaryFile {
    static func open() throws(MigrationFailure) -> Int32 {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/var/tmp"
        var name = Array("\(folder)/realm-server-import-XXXXXX".utf8CString)
        let descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw failure }
        unlink(name)
        return descriptor
    }

    static var failure: MigrationFailure {
        MigrationFailure(
            "import.output",
            "a temporary file cannot be made: \(String(cString: strerror(errno)))",
            remedy: "free disk space, or set TMPDIR"
        )
    }
}
