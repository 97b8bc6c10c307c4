import ServerFixtures
import ServerStore
import Testing
import Versions

@testable import ServerCluster

@Suite("Orders as texts")
struct OrderTextTests {
    private static let shop = AppID.named("shop-abcde")

    private static let messages: [BackplaneMessage] = [
        .changed(shop), .control(.app(shop), .pause), .control(.app(shop), .rebind),
        .control(.user(UserID("ü,\n\"'"), of: shop), .leave(reason: "user disabled")),
        .control(.user(UserID(""), of: shop), .leave(reason: "")),
        .control(.session(SessionDigest(bytes: [0, 255, 7]), of: shop), .leave(reason: ",é")),
        .control(
            .client(ClientFileID(file: ServerFileID(.max), ident: FileIdent(UInt64(Int64.max)))),
            .rebind
        ),
    ]

    @Test("A text is read as it was written", arguments: messages)
    func roundTrip(message: BackplaneMessage) throws {
        let text = try #require(OrderText.text(of: message))
        #expect(OrderText.message(text) == message)
    }

    @Test("Growth and takeovers have no text as orders")
    func others() {
        #expect(OrderText.text(of: .growth(of: ServerFileID(1), to: ServerVersion(2))) == nil)
        let client = ClientFileID(file: ServerFileID(1), ident: FileIdent(2))
        #expect(OrderText.text(of: .takeover(of: client, epoch: 3)) == nil)
    }

    @Test(
        "Texts of others are ignored",
        arguments: [
            "", ",", "c", "c,", "c,a b", "c,a,b", "p", "p,a", "p,a,", "p,a,a b", "x,a,shop",
            "pp,a,shop",
            "lzz,a,shop", "r,u,shop", "r,u,shop,1", "r,u,shop,ff", "r,f,1", "r,f,1,-1",
            "r,f,9223372036854775808,1", "r,s,shop,0", "r,s,shop,01,02", "l1,a,shop",
        ]
    )
    func malformed(text: String) {
        #expect(OrderText.message(text) == nil)
    }
}
