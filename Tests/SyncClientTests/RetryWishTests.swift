import Testing

@testable import SyncClient

@Suite("The wish to connect now")
struct RetryWishTests {
    @Test("A wish is taken once")
    func wish() {
        let wish = RetryRequest()
        #expect(!wish.take())
        wish.make()
        wish.make()
        #expect(wish.take())
        #expect(!wish.take())
    }
}
