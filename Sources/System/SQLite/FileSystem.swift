import CLinux
import FoundationEssentials

/// The file system that a database is on.
package enum FileSystem {
    /// Those of local disks, of memory, and what containers lay over them. Others notify only of the writes of this
    /// machine.
    private static let local: Set<Int64> = [
        0xEF53,  // ext2 to ext4
        0x5846_5342,  // XFS
        0x9123_683E,  // Btrfs
        0xF2F5_2010,  // F2FS
        0x2FC1_2FC1,  // ZFS
        0x0102_1994,  // tmpfs
        0x794C_7630,  // overlayfs
    ]

    /// Whether the kernel can notify of the writes of all programs to a file.
    package static func notifiesOfAllWrites(to path: String) -> Bool {
        local.contains(linux_file_system(path))
    }

    /// Whether times of files may be older after a power cut than their content: some file system is mounted with
    /// `lazytime`, or that is not known.
    package static let delaysTimes: Bool = {
        let mounts = try? String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8)
        return mounts?.contains("lazytime") ?? true
    }()
}
