import ServerFixtures
import Testing

@testable import ServerConfig
@testable import ServerHTTP
@testable import ServerStore

@Suite("The origin of a request")
struct TrustedProxiesTests {
    @Test(
        "Ranges are read, and contain what begins alike",
        arguments: [
            ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false),
            ("10.1.2.3/8", "10.9.9.9", true), ("192.0.2.1", "192.0.2.1", true),
            ("192.0.2.1", "192.0.2.2", false), ("192.0.2.128/25", "192.0.2.127", false),
            ("192.0.2.128/25", "192.0.2.129", true), ("0.0.0.0/0", "203.0.113.9", true),
            ("0.0.0.0/0", "2001:db8::1", false), ("::/0", "203.0.113.9", true),
            ("::1", "0:0:0:0:0:0:0:1", true), ("fd00::/8", "fdff::1", true),
            ("fd00::/8", "fe00::1", false), ("2001:db8::/33", "2001:db8:7fff::1", true),
            ("2001:db8::/33", "2001:db8:8000::1", false), ("127.0.0.1", "::ffff:127.0.0.1", true),
        ]
    )
    func ranges(range: String, address: String, isIn: Bool) throws {
        let range = try #require(AddressRange(range))
        #expect(range.contains(try #require(IPAddress(address))) == isIn)
    }

    @Test(
        "Anything else is not a range",
        arguments: [
            "", "/", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0/8",
            "::1/129",
            "localhost", "10.0.0.0/8/8", "1.2.3.4:80", "[::1]",
        ]
    )
    func badRanges(text: String) {
        #expect(AddressRange(text) == nil)
    }

    private func key(_ peer: String?, _ forwarded: [String], _ trusted: [String]) -> String {
        TrustedProxies(trusted.compactMap { AddressRange($0) }, logger: LogRecorder().logger)
            .limitKey(of: peer, forwarded: forwarded)
    }

    @Test("Without a trusted proxy the connection's address counts, not the client's header")
    func untrusted() {
        #expect(key("203.0.113.9", [], []) == "203.0.113.9")
        #expect(key("203.0.113.9", ["192.0.2.1"], []) == "203.0.113.9")
        #expect(key("203.0.113.9", ["192.0.2.1"], ["10.0.0.0/8"]) == "203.0.113.9")
        #expect(key("::ffff:203.0.113.9", [], []) == "203.0.113.9")
        #expect(key(nil, ["192.0.2.1"], ["0.0.0.0/0"]) == "")
    }

    @Test(
        "Behind trusted proxies, the last hop that is not one of them counts",
        arguments: [
            (["192.0.2.1"], "192.0.2.1"), (["198.51.100.7, 192.0.2.1"], "192.0.2.1"),
            (["198.51.100.7", "192.0.2.1"], "192.0.2.1"),
            (["198.51.100.7, 192.0.2.1, 10.0.0.5"], "192.0.2.1"),
            (["192.0.2.1", "10.0.0.5 ,\t10.0.0.6"], "192.0.2.1"), (["10.0.0.5"], "10.0.0.5"),
            ([], "10.0.0.9"), ([""], "10.0.0.9"), (["192.0.2.1, unknown"], "10.0.0.9"),
            (["192.0.2.1, nonsense, 10.0.0.5"], "10.0.0.5"), (["192.0.2.1:4711"], "192.0.2.1"),
            (["[2001:db8:1:2:3::4]:4711"], "2001:db8:1:2::/64"),
            (["2001:db8:1:2:ffff::9"], "2001:db8:1:2::/64"), (["fe80::1%eth0"], "fe80:0:0:0::/64"),
        ]
    )
    func trusted(forwarded: [String], expected: String) {
        #expect(key("10.0.0.9", forwarded, ["10.0.0.0/8"]) == expected)
    }

    @Test("A proxy on this machine that is not trusted is logged once")
    func warning() {
        let log = LogRecorder()
        let proxies = TrustedProxies(logger: log.logger)
        for _ in 0..<3 { _ = proxies.limitKey(of: "203.0.113.9", forwarded: ["192.0.2.1"]) }
        #expect(log.records.isEmpty)
        for _ in 0..<3 { _ = proxies.limitKey(of: "127.0.0.1", forwarded: ["192.0.2.1"]) }
        #expect(log.records.map(\.message) == ["a proxy is not trusted"])
        proxies.all = [AddressRange("127.0.0.1")].compactMap { $0 }
        #expect(proxies.limitKey(of: "127.0.0.1", forwarded: ["192.0.2.1"]) == "192.0.2.1")
    }
}
