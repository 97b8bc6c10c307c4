import SyncProtocol
import Testing

@Suite("A client's reaction to a failed connection")
struct ConnectionReactionTests {
    struct Case: Sendable, CustomStringConvertible {
        let description: String
        let reaction: ConnectionReaction
        let status: SyncStatus
        var action = ServerAction.transient
        var isFatal = false
        var isReported = true
    }

    static let httpCases: [Case] =
        [301, 308].map {
            Case(
                description: "HTTP \($0)",
                reaction: .httpStatus($0, isEndpointVerified: true),
                status: .connectionClosed,
                action: .refreshLocation
            )
        }
        + [300, 302, 303, 307, 500, 502, 503, 504, 599].map {
            Case(
                description: "HTTP \($0)",
                reaction: .httpStatus($0, isEndpointVerified: true),
                status: .connectionClosed,
                isReported: false
            )
        }
        + [200, 204, 400, 402, 404, 410, 429, 100, 999].flatMap {
            [
                Case(
                    description: "HTTP \($0)",
                    reaction: .httpStatus($0, isEndpointVerified: true),
                    status: .syncConnectFailed,
                    isFatal: true
                ),
                Case(
                    description: "HTTP \($0) from an unverified endpoint",
                    reaction: .httpStatus($0, isEndpointVerified: false),
                    status: .syncConnectFailed,
                    action: .refreshLocation
                ),
            ]
        }
        + [
            Case(
                description: "HTTP 401",
                reaction: .httpStatus(401, isEndpointVerified: true),
                status: .authError,
                action: .refreshUser
            ),
            Case(
                description: "HTTP 403",
                reaction: .httpStatus(403, isEndpointVerified: false),
                status: .authError,
                action: .logOutUser,
                isFatal: true
            ),
        ]

    static let closeCases: [Case] =
        [1001, 1002, 1003, 1004, 1005, 1007, 1008, 1010, 1012, 4000, 4004, 4005].map {
            Case(
                description: "close \($0)",
                reaction: .closeCode(CloseCode(rawValue: $0)),
                status: .syncProtocolInvariantFailed
            )
        }
        + [
            Case(
                description: "close 1000",
                reaction: .closeCode(.normal),
                status: .connectionClosed,
                isReported: false
            ),
            Case(
                description: "close 1006",
                reaction: .closeCode(.abnormal),
                status: .authError,
                action: .refreshUser
            ),
            Case(
                description: "close 1009",
                reaction: .closeCode(.messageTooBig),
                status: .limitExceeded,
                action: .clientReset
            ),
            Case(
                description: "close 1011",
                reaction: .closeCode(.internalError),
                status: .connectionClosed,
                isReported: false
            ),
            Case(
                description: "close 1015",
                reaction: .closeCode(.tlsFailure),
                status: .tlsHandshakeFailed
            ),
            Case(
                description: "close 4001",
                reaction: .closeCode(.unauthorized),
                status: .authError,
                action: .refreshUser
            ),
            Case(
                description: "close 4002",
                reaction: .closeCode(.forbidden),
                status: .authError,
                action: .logOutUser,
                isFatal: true
            ),
            Case(
                description: "close 4003",
                reaction: .closeCode(.movedPermanently),
                status: .connectionClosed,
                action: .refreshLocation
            ),
        ]

    @Test("Status codes and close codes", arguments: httpCases + closeCases)
    func table(expected: Case) {
        #expect(expected.reaction.status == expected.status)
        #expect(expected.reaction.action == expected.action)
        #expect(expected.reaction.isFatal == expected.isFatal)
        #expect(expected.reaction.isReported == expected.isReported)
    }

    @Test("An unverified endpoint is looked up again")
    func unverified() {
        #expect(
            ConnectionReaction.connectFailed(isEndpointVerified: false).action == .refreshLocation
        )
        #expect(
            ConnectionReaction.connectTimedOut(isEndpointVerified: false).reconnectsAfterRefresh
        )
        #expect(ConnectionReaction.connectFailed(isEndpointVerified: true).action == .transient)
        #expect(ConnectionReaction.malformedAnswer(isEndpointVerified: true).isFatal)
        #expect(!ConnectionReaction.malformedAnswer(isEndpointVerified: false).isFatal)
    }
}
