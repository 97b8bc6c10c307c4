import Platform
import TestSupport
import Testing

@Suite("Files that the kernel makes")
struct KernelFileTests {
    @Test("A file of many pages is read to its end")
    func pages() throws {
        let maps = try #require(KernelFile.text(at: "/proc/self/maps"))
        #expect(maps.utf8.count > 3 * 4096)
        #expect(maps.hasSuffix("\n"))
        let lines = maps.split(separator: "\n")
        #expect(lines.contains { $0.hasSuffix("[stack]") })
    }

    @Test("A file that cannot be read has no text")
    func absent() {
        #expect(KernelFile.text(at: "/proc/self/no-such-file") == nil)
        #expect(KernelFile.text(at: "/proc/self") == nil)
    }
}
