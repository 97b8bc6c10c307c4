import Testing

@testable import SyncClient

@Suite("The request to connect now")
struct RetryRequestTests {
    @Test("A request is taken once")
    func request() {
        let request = RetryRequest()
        #expect(!request.take())
        request.make()
        request.make()
        #expect(request.take())
        #expect(!request.take())
    }
}
