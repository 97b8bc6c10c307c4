/// Memory for the bytes bound to a statement, at addresses that hold until the bindings are
/// cleared.
///
/// It replaces one allocation for each bound value: blocks are kept and filled again.
struct BindingArena: ~Copyable {
    private var blocks: [UnsafeMutableRawBufferPointer] = []
    private var current = 0
    private var used = 0

    private static let blockSizeInBytes = 4096
    /// A larger block is freed when its binding ends.
    private static let keptSizeInBytes = 1 << 20

    deinit {
        for block in blocks { block.deallocate() }
    }

    /// Copies the bytes and returns their address; never null, since a null pointer would bind
    /// NULL.
    mutating func store(_ bytes: [UInt8]) -> UnsafeRawPointer {
        let room = reserve(bytes.count)
        room.copyBytes(from: bytes)
        // A reserved slice is never empty, so it has an address.
        guard let start = room.baseAddress else {
            preconditionFailure("a reserved slice of the arena has no address")
        }
        return UnsafeRawPointer(start)
    }

    mutating func removeAll() {
        blocks.removeAll { block in
            guard block.count > Self.keptSizeInBytes else { return false }
            block.deallocate()
            return true
        }
        current = 0
        used = 0
    }

    /// Room for some bytes, never without an address.
    mutating func reserve(_ count: Int) -> UnsafeMutableRawBufferPointer {
        let count = max(count, 1)
        while current < blocks.count, blocks[current].count - used < count {
            current += 1
            used = 0
        }
        if current == blocks.count {
            let size = max(count, Self.blockSizeInBytes)
            blocks.append(.allocate(byteCount: size, alignment: 16))
        }
        defer { used += count }
        return .init(rebasing: blocks[current][used..<used + count])
    }
}
