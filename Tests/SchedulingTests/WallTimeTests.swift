import Scheduling
import Testing

@Suite("Wall time as text")
struct WallTimeTests {
    @Test(
        "ISO 8601 with milliseconds, also before 1970 and for numbers that a damaged file holds",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_700_000_000_123, "2023-11-14T22:13:20.123Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (.max, "292278994-08-17T07:12:55.807Z"),
            (.min, "-292275055-05-16T16:47:04.192Z"),
        ] as [(Int64, String)]
    )
    func description(milliseconds: Int64, text: String) {
        #expect(WallTime(millisecondsSince1970: milliseconds).description == text)
    }
}
