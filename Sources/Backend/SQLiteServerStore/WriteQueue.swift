import Coordination
import DequeModule
import ServerStore

/// Writes that wait for the store's one writer: those of accounts first, the others in turns by owner.
struct WriteQueue {
    private var accounts: Deque<any PendingWrite> = []
    private var others = FairQueue<WriteOwner, any PendingWrite>()
    /// The number of writes of accounts since the last one of another owner.
    private var accountsInARow = 0

    /// A flood of log-ins must not block other writes for ever.
    static let accountsInARowAtMost = 64

    var count: Int { accounts.count + others.count }

    mutating func append(_ write: any PendingWrite, of owner: WriteOwner) {
        if owner == .accounts {
            accounts.append(write)
        } else {
            _ = others.append(write, from: owner)
        }
    }

    mutating func next() -> (any PendingWrite)? {
        if accountsInARow < Self.accountsInARowAtMost || others.count == 0,
            let write = accounts.popFirst()
        {
            accountsInARow += 1
            return write
        }
        accountsInARow = 0
        return others.next()
    }
}
