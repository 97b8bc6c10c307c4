import Synchronization
import Testing

@testable import WorkDisplay

@Suite("The display of long work")
struct ProgressDisplayTests {
    /// A display at a time that the test sets, and what it has written.
    private final class Scene: Sendable {
        private let start = ContinuousClock.now
        private let state = Mutex((seconds: 0.0, written: [String]()))

        var seconds: Double {
            get { state.withLock { $0.seconds } }
            set { state.withLock { $0.seconds = newValue } }
        }
        var written: [String] { state.withLock { $0.written } }

        func display(onTerminal isTerminal: Bool) -> ProgressDisplay {
            ProgressDisplay(
                isTerminal: isTerminal,
                now: { self.start + .seconds(self.seconds) },
                write: { text in self.state.withLock { $0.written.append(text) } }
            )
        }
    }

    @Test("On a terminal one line is replaced, at most five times a second, and cleared at the end")
    func terminal() {
        let scene = Scene()
        let display = scene.display(onTerminal: true)
        display.show(WorkProgress(1, of: 4, text: "1 row"))
        scene.seconds = 0.1
        display.show(WorkProgress(2, of: 4, text: "2 rows"))
        scene.seconds = 0.2
        display.show(WorkProgress(4, of: 4, text: "4 rows"))
        display.end()
        display.end()
        let dots = String(repeating: ".", count: 23)
        #expect(
            scene.written == [
                "\r\u{1b}[K[#######\(dots)] 25 % 1 row",
                "\r\u{1b}[K[\(String(repeating: "#", count: 30))] 100 % 4 rows",
                "\r\u{1b}[K",
            ]
        )
    }

    @Test("Elsewhere there is a line every ten seconds, and none for short work")
    func lines() {
        let scene = Scene()
        let display = scene.display(onTerminal: false)
        for second in stride(from: 0.0, through: 25, by: 1) {
            scene.seconds = second
            let text = display.rate(Int(second), "row")
            display.show(WorkProgress(UInt64(second), of: 50, text: text))
        }
        display.end()
        #expect(scene.written == ["20 %, 10 rows, 1/s\n", "40 %, 20 rows, 1/s\n"])
    }

    @Test(
        "Any numbers have a share, and 100 % is the end",
        arguments: [
            (0, nil, "t"), (5, 0, "t"), (1, 3, "33 %, t"), (999, 1000, "99 %, t"),
            (7, 5, "100 %, t"), (.max, .max, "100 %, t"),
        ] as [(UInt64, UInt64?, String)]
    )
    func shares(done: UInt64, total: UInt64?, line: String) {
        #expect(WorkProgress(done, of: total, text: "t").line == line)
    }

    @Test("A number has the noun for one, or for several")
    func counted() {
        #expect(
            "\(Counted(1, "row")), \(Counted(0, "row")), \(Counted(2, "class"))"
                == "1 row, 0 rows, 2 classes"
        )
        let display = Scene().display(onTerminal: true)
        #expect(display.rate(1, "document") == "1 document, 1/s")
    }

    @Test("A share that is not a number counts as 0")
    func notANumber() {
        #expect(WorkProgress(share: .nan, text: "t").line == "0 %, t")
        #expect(WorkProgress(share: -1, text: "t").line == "0 %, t")
        #expect(WorkProgress(share: nil, text: "t").bar == "t")
    }
}
