import Changesets
import Control
import Testing

@testable import Agent
@testable import LocalRealm

/// Values that a server refuses may be of any size; the list of them must cross the control socket.
@Suite("The list of rejected writes")
struct RejectsReportTests {
    private static let huge = String(repeating: "x", count: 20_000_000)

    private func write(_ id: Int64, _ origin: RejectedWrite.Origin) -> RejectedWrite {
        RejectedWrite(
            id: id,
            origin: origin,
            at: 1_772_600_767_000,
            className: "Item",
            key: "\(id)",
            reason: "the object would be too large"
        )
    }

    @Test(
        "A value or a row of 20 MB is cut or left out, and the others are listed",
        arguments: [
            RejectedWrite.Origin.capture(property: "note", value: huge),
            .server(errorCode: 231, version: nil, rowBefore: huge),
        ]
    )
    func large(origin: RejectedWrite.Origin) throws {
        let small = RejectedWrite.Origin.server(errorCode: 231, version: nil, rowBefore: "{}")
        let rejects = AgentService.fitting([write(3, origin), write(2, small), write(1, origin)])
        #expect(rejects.map(\.key) == ["3", "2", "1"])
        #expect(rejects[1].rowBefore == "{}")
        let report = RejectsReport(realm: "stock", rejects: rejects)
        let size = try report.controlJSON().utf8.count
        #expect(size < 200_000, "\(size) bytes")
    }

    @Test("However many there are, the newest fit into one response")
    func many() throws {
        let row = String(repeating: "x", count: 500_000)
        let writes = (1...1000).map {
            write($0, .server(errorCode: 231, version: nil, rowBefore: row))
        }
        let rejects = AgentService.fitting(writes)
        #expect(rejects.first?.key == "1")
        #expect(rejects.count > 10 && rejects.count < 1000)
        let size = try RejectsReport(realm: "stock", rejects: rejects).controlJSON().utf8.count
        #expect(size < 16 << 20, "\(size) bytes")
    }
}
