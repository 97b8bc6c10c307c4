import Testing

@testable import RealmSync

@Suite("Pauses between attempts to bring a realm up")
struct AttemptPausesTests {
    var pauses = AttemptPauses(initial: .seconds(1), maximum: .seconds(10), multiplier: 3)

    @Test("They grow up to the longest, and stay there")
    mutating func growth() {
        #expect((1...5).map { _ in pauses.next() } == [1, 3, 9, 10, 10].map { .seconds($0) })
    }

    @Test("A realm that fails soon after each opening keeps them growing; a sound one resets them")
    mutating func reset() {
        _ = pauses.next()
        pauses.wasOpen(.seconds(10))
        #expect(pauses.next() == .seconds(3))
        pauses.wasOpen(.seconds(11))
        #expect(pauses.next() == .seconds(1))
    }

    @Test(
        "Retries of handlers wait longer while refusals follow each other, and start over after a rest"
    )
    func retries() {
        var retries = RetryPauses(pauses)
        #expect(retries.next(at: .seconds(100)) == .seconds(1))
        #expect(retries.next(at: .seconds(101)) == .seconds(3))
        #expect(retries.next(at: .seconds(121)) == .seconds(9))
        #expect(retries.next(at: .seconds(142)) == .seconds(1))
    }
}
