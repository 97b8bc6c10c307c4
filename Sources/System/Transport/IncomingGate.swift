import DequeModule
import NIOCore

/// Stops reading from a connection when more of its messages are in memory than there is room for:
/// a small allowance for each connection, and beyond it one large message at a time, with room in
/// the budget of all connections.
///
/// It comes before the frame decoder and counts bytes; a message counts from the header of its
/// first frame until the receiver has taken it. If one read of the socket brings more, the rest is
/// kept.
final class IncomingGate: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = Never

    /// The event by which the receiver reports that it has taken the next message.
    struct MessageTaken: Sendable {}

    /// The memory that a connection may use without room in the budget.
    static let allowanceInBytes = 16 << 10
    /// The overhead of a frame.
    static let overheadInBytes = 256
    /// The interval at which a waiting claim presses.
    private static let pressInterval = TimeAmount.seconds(5)

    /// Of one message.
    private struct Message {
        var sizeInBytes = 0
        /// Whether the claim is for this message.
        var hasClaim = false
    }

    private enum ClaimState {
        case none
        case waiting(IncomingBudget.ClaimID, RepeatedTask)
        case granted(IncomingBudget.ClaimID)
    }

    private let budget: IncomingBudget
    private let user: String
    private let maximumMessageSizeInBytes: Int
    private var scanner = FrameScanner()
    /// The message that is being received.
    private var current = Message()
    /// Room that the current message needs and has not claimed.
    private var neededBytes: Int?
    /// Received, not taken yet.
    private var untaken: Deque<Message> = []
    private var untakenBytes = 0
    private var claim = ClaimState.none
    private var isReadHeldBack = false

    init(_ share: IncomingShare, maximumMessageSizeInBytes: Int) {
        self.budget = share.budget
        self.user = share.user
        self.maximumMessageSizeInBytes = maximumMessageSizeInBytes
    }

    private var isPaused: Bool {
        if case .waiting = claim { return true }
        return untakenBytes > Self.allowanceInBytes || neededBytes != nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        for event in scanner.scan(unwrapInboundIn(data)) {
            switch event {
            case .announced(let size, let isLast):
                grow(by: size, isLast: isLast)
                claimRoom(context)
            case .ended:
                untaken.append(current)
                untakenBytes += current.sizeInBytes
                current = Message()
                neededBytes = nil
            }
        }
        context.fireChannelRead(data)
    }

    func read(context: ChannelHandlerContext) {
        if isPaused {
            isReadHeldBack = true
        } else {
            context.read()
        }
    }

    func triggerUserOutboundEvent(
        context: ChannelHandlerContext,
        event: Any,
        promise: EventLoopPromise<Void>?
    ) {
        guard event is MessageTaken else {
            return context.triggerUserOutboundEvent(event, promise: promise)
        }
        promise?.succeed()
        guard let message = untaken.popFirst() else { return }
        untakenBytes -= message.sizeInBytes
        if message.hasClaim { giveRoomBack(context) }
        claimRoom(context)
        readOn(context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        giveRoomBack(context)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        giveRoomBack(context)
    }
}

// MARK: Room

extension IncomingGate {
    private func grow(by size: Int, isLast: Bool) {
        // The decoder refuses a length that no message may have.
        guard size <= maximumMessageSizeInBytes else { return }
        current.sizeInBytes += size + Self.overheadInBytes
        guard !current.hasClaim, current.sizeInBytes > Self.allowanceInBytes else { return }
        // A frame that is not the last one does not announce what follows it.
        neededBytes =
            isLast ? current.sizeInBytes : max(current.sizeInBytes, maximumMessageSizeInBytes)
    }

    private func claimRoom(_ context: ChannelHandlerContext) {
        guard case .none = claim, let size = neededBytes else { return }
        neededBytes = nil
        current.hasClaim = true
        let loop = context.eventLoop
        let (gate, bound) = (NIOLoopBound(self, eventLoop: loop), context.loopBound)
        let (id, isGranted) = budget.add(
            IncomingBudget.Claim(
                sizeInBytes: size,
                user: user,
                grant: { loop.execute { gate.value.granted(bound.value) } },
                evict: { loop.execute { bound.value.close(promise: nil) } }
            ),
            at: loop.now
        )
        guard !isGranted else {
            claim = .granted(id)
            return
        }
        claim = .waiting(
            id,
            loop.scheduleRepeatedTask(
                initialDelay: Self.pressInterval,
                delay: Self.pressInterval
            ) { [budget] _ in budget.press(at: loop.now) }
        )
    }

    private func granted(_ context: ChannelHandlerContext) {
        guard case .waiting(let id, let press) = claim else { return }
        press.cancel()
        claim = .granted(id)
        readOn(context)
    }

    private func giveRoomBack(_ context: ChannelHandlerContext) {
        switch claim {
        case .none: return
        case .waiting(let id, let press):
            press.cancel()
            budget.remove(id, at: context.eventLoop.now)
        case .granted(let id): budget.remove(id, at: context.eventLoop.now)
        }
        claim = .none
    }

    private func readOn(_ context: ChannelHandlerContext) {
        guard isReadHeldBack, !isPaused else { return }
        isReadHeldBack = false
        context.read()
    }
}

/// The budget that counts a connection's messages, and the user they belong to.
package struct IncomingShare: Sendable {
    let budget: IncomingBudget
    let user: String

    package init(of user: String, in budget: IncomingBudget) {
        self.budget = budget
        self.user = user
    }
}
