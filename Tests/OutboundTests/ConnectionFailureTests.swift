import NIOCore
import Outbound
import Testing

@Suite("Connections that fail, in words")
struct ConnectionFailureTests {
    @Test(
        "An end during the set-up is not taken for a server of another kind",
        arguments: [
            ChannelError.inappropriateOperationForState, .ioOnClosedChannel, .alreadyClosed, .eof,
            .outputClosed,
        ]
    )
    func closed(error: ChannelError) {
        #expect(ConnectionFailure.sentence(for: error) == "the other end closed the connection")
    }

    @Test("A limit of our own is not an end of the other")
    func others() {
        #expect(ConnectionFailure.sentence(for: ChannelError.operationUnsupported) == nil)
    }
}
