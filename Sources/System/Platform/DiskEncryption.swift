internal import CLinux
import FoundationEssentials

/// Whether a file is stored encrypted, as far as the kernel tells without rights.
package enum DiskEncryption: Equatable, Sendable {
    /// By its file system (fscrypt).
    case fileSystem
    /// By the block device, or one below it (LUKS and other dm-crypt).
    case device
    /// Neither; a drive, or the host of a virtual machine, may still encrypt unseen.
    case none

    /// Nil if the file cannot be examined.
    ///
    /// - Parameter devices: the kernel's directory of block devices, by their numbers.
    package init?(of path: String, devices: String = "/sys/dev/block") {
        var place = linux_file_place()
        guard linux_file_place(path, &place) == 0 else { return nil }
        guard place.is_encrypted == 0 else {
            self = .fileSystem
            return
        }
        let device = "\(devices)/\(place.device_major):\(place.device_minor)"
        self = Self.isEncrypted(device, depth: 0) ? .device : .none
    }

    /// More than any stack of partitions, volumes and encryption has.
    private static let deepest = 8

    /// Whether the device, or one of those that it consists of, is made by dm-crypt.
    ///
    /// A device of several counts as encrypted only if all of them are.
    static func isEncrypted(_ device: String, depth: Int) -> Bool {
        let files = FileManager.default
        let uuid = KernelFile.text(at: "\(device)/dm/uuid")
        if let uuid, uuid.hasPrefix("CRYPT-") { return true }
        let slaves = (try? files.contentsOfDirectory(atPath: "\(device)/slaves")) ?? []
        guard depth < deepest, !slaves.isEmpty else { return false }
        return slaves.allSatisfy { isEncrypted("\(device)/slaves/\($0)", depth: depth + 1) }
    }
}
