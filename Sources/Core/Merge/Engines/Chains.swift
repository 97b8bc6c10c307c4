/// Many lists of positions in one pair of arrays. A list is cheap to start, to extend and to walk,
/// and drops discarded operations during a walk.
struct Chains {
    private var positions: [Int32] = []
    private var successors: [Int32] = []

    init(capacity: Int) {
        positions.reserveCapacity(capacity)
        successors.reserveCapacity(capacity)
    }

    /// Adds a position, larger than all others of the chain.
    mutating func append(_ position: Int, to chain: inout Chain) {
        let node = Int32(positions.count)
        positions.append(Int32(position))
        successors.append(Chain.end)
        if chain.last == Chain.end {
            chain.first = node
        } else {
            successors[Int(chain.last)] = node
        }
        chain.last = node
    }

    fileprivate func position(_ node: Int32) -> Int {
        Int(positions[Int(node)])
    }

    fileprivate func successor(_ node: Int32) -> Int32 {
        successors[Int(node)]
    }

    fileprivate mutating func link(_ node: Int32, to successor: Int32) {
        successors[Int(node)] = successor
    }
}

/// One of the lists in a `Chains`.
struct Chain {
    fileprivate var first = Self.end
    fileprivate var last = Self.end

    fileprivate static let end: Int32 = -1

    static let empty = Chain()

    var isEmpty: Bool { first == Self.end }
}

/// A walk along up to three chains at once, in the order of their positions.
struct Walk {
    private var first: Cursor
    private var second: Cursor
    private var third: Cursor

    init(_ first: Chain?, _ second: Chain? = nil, _ third: Chain? = nil) {
        self.first = Cursor(first)
        self.second = Cursor(second)
        self.third = Cursor(third)
    }

    /// The next position whose operation is not discarded.
    mutating func next(in chains: inout Chains, of side: Side) -> Int? {
        let positions = (
            first.position(in: &chains, of: side),
            second.position(in: &chains, of: side),
            third.position(in: &chains, of: side)
        )
        let nearest = min(positions.0, positions.1, positions.2)
        guard nearest != .max else { return nil }
        if positions.0 == nearest {
            first.advance(in: chains)
        } else if positions.1 == nearest {
            second.advance(in: chains)
        } else {
            third.advance(in: chains)
        }
        return nearest
    }

    /// A place in one chain.
    private struct Cursor {
        /// The node before the current one; between them, only discarded ones have been cut out.
        private var previous = Chain.end
        private var current: Int32

        init(_ chain: Chain?) {
            current = chain?.first ?? Chain.end
        }

        /// The position here, beyond all discarded operations; `.max` at the end of the chain.
        mutating func position(in chains: inout Chains, of side: Side) -> Int {
            while current != Chain.end {
                let position = chains.position(current)
                guard side.operations[position].isDiscarded else { return position }
                let next = chains.successor(current)
                if previous == Chain.end {
                    previous = current  // A discarded head stays, as the way to the rest.
                } else {
                    chains.link(previous, to: next)
                }
                current = next
            }
            return .max
        }

        mutating func advance(in chains: Chains) {
            previous = current
            current = chains.successor(current)
        }
    }
}
