import FoundationEssentials
import TestSupport
import Testing

@testable import Platform

@Suite("Encryption of the disk below a file")
struct DiskEncryptionTests {
    /// A directory like `/sys/dev/block`, with one device.
    private struct Devices {
        let directory: TemporaryDirectory

        init() throws { directory = try TemporaryDirectory() }

        var device: String { "\(directory.path)/8:1" }

        func add(_ path: String, uuid: String? = nil) throws {
            let folder = "\(device)\(path)"
            try FileManager.default.createDirectory(
                atPath: "\(folder)/dm",
                withIntermediateDirectories: true
            )
            guard let uuid else { return }
            try Data("\(uuid)\n".utf8).write(to: URL(filePath: "\(folder)/dm/uuid"))
        }
    }

    @Test("A partition is not encrypted, one of dm-crypt is, and a volume is if all below it are")
    func stack() throws {
        let devices = try Devices()
        #expect(!DiskEncryption.isEncrypted(devices.device, depth: 0))
        try devices.add("")
        #expect(!DiskEncryption.isEncrypted(devices.device, depth: 0))
        try devices.add("", uuid: "LVM-abc")
        try devices.add("/slaves/dm-0", uuid: "CRYPT-LUKS2-def-disk")
        #expect(DiskEncryption.isEncrypted(devices.device, depth: 0))
        try devices.add("/slaves/dm-1", uuid: "LVM-ghi")
        #expect(!DiskEncryption.isEncrypted(devices.device, depth: 0))
        try devices.add("/slaves/dm-1/slaves/dm-2", uuid: "CRYPT-PLAIN-x")
        #expect(DiskEncryption.isEncrypted(devices.device, depth: 0))
    }

    @Test("A missing file is neither")
    func missing() {
        #expect(DiskEncryption(of: "/nonexistent/file") == nil)
        #expect(DiskEncryption(of: "/proc/self/status", devices: "/nonexistent") == .some(.none))
    }
}
