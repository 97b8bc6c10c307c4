import ClientReset
import LocalRealm
import SyncProtocol
import Versions

/// Work of a session on its realm's file.
enum RealmWork: Sendable {
    case storeFileIdent(SaltedFileIdent)
    /// `parsed` if it was decoded ahead of its turn.
    case integrate(ClientSession.Download, parsed: ParsedDownload?)
    /// Everything that the server had at some moment is in the file.
    case markDownloadCompleted
    /// Store rejected writes, with their rows, before what undoes them is integrated.
    case keepRejects(ServerProblem)
    /// The server rejects a subscription set.
    case failSubscriptions(ServerMessage.QueryError)
    case scan(UploadScan)
    /// A message was too big: it can only have been an upload.
    case refuseIfUploading(ResetCause)
    /// Make the message's content durable; the number identifies its turn.
    case makeDurable(ClientMessage, turn: Int)

    /// Work whose size the server chose.
    var sizeInBytes: Int {
        switch self {
        case .integrate(let download, _):
            download.changesets.reduce(0) { $0 + $1.bytes.count }
        case .storeFileIdent, .markDownloadCompleted, .keepRejects, .failSubscriptions, .scan,
            .refuseIfUploading,
            .makeDurable:
            0
        }
    }
}

/// Work that waits for the file, in the order in which the session asked for it.
struct RealmWorkQueue {
    struct Item {
        let number: Int
        /// The session that gets the result; work of an ended session is skipped.
        let session: SessionIdent
        var work: RealmWork
        var isBeingParsed = false
        let sizeInBytes: Int
    }

    private var items: [Item] = []
    private var nextNumber = 1
    private(set) var sizeInBytes = 0

    /// Limit above which messages wait as they came; one of the largest may come on top of it.
    static let limitInBytes = 8 << 20
    /// Smaller downloads are decoded when their turn comes.
    private static let parsedAheadFromBytes = 64 << 10

    var isFull: Bool { sizeInBytes > Self.limitInBytes }

    mutating func append(_ work: RealmWork, of session: SessionIdent) {
        let size = work.sizeInBytes
        items.append(
            Item(number: nextNumber, session: session, work: work, sizeInBytes: size)
        )
        nextNumber += 1
        sizeInBytes += size
    }

    /// The next piece; nil if there is none, or if it is being decoded.
    mutating func takeFirst() -> Item? {
        guard let first = items.first, !first.isBeingParsed else { return nil }
        items.removeFirst()
        sizeInBytes -= first.sizeInBytes
        return first
    }

    /// Whether the next piece is worth decoding ahead of its turn.
    var isWorthParsing: Bool { nextForParsing != nil }

    private var nextForParsing: ClientSession.Download? {
        guard let first = items.first, !first.isBeingParsed,
            case .integrate(let download, parsed: nil) = first.work,
            case .history = download.part,
            first.sizeInBytes >= Self.parsedAheadFromBytes
        else { return nil }
        return download
    }

    /// The next piece if it is worth decoding ahead of its turn; it stays, and waits for `parsed`.
    mutating func takeForParsing() -> (number: Int, download: ClientSession.Download)? {
        guard let download = nextForParsing else { return nil }
        items[0].isBeingParsed = true
        return (items[0].number, download)
    }

    mutating func parsed(_ number: Int, _ parsed: ParsedDownload) {
        guard items.first?.number == number, case .integrate(let download, _) = items[0].work else {
            return
        }
        items[0].work = .integrate(download, parsed: parsed)
        items[0].isBeingParsed = false
    }

    mutating func removeAll() {
        items = []
        sizeInBytes = 0
    }
}
