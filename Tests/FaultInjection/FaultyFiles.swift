internal import CFaultVFS
internal import Synchronization

/// A file layer for SQLite connections of tests that fails when told to.
///
/// Each instance counts for itself, so that tests can run side by side.
package final class FaultyFiles: @unchecked Sendable {
    /// The name to open connections with: `Connection.Options(vfs: files.name)`.
    package let name: String
    /// All state behind it is atomic.
    private let layer: OpaquePointer

    private static let serial = Atomic<Int>(0)

    /// - Parameter isDefault: every connection of the process goes through it from now on.
    package init(isDefault: Bool = false) {
        let number = Self.serial.add(1, ordering: .relaxed).newValue
        let name = "faulty-\(number)"
        guard let layer = fault_vfs_register(name, isDefault ? 1 : 0) else {
            preconditionFailure("SQLite does not take another file layer")
        }
        self.name = name
        self.layer = layer
    }

    package enum Fault: Int32, Sendable, CaseIterable {
        /// The chosen change fails with an I/O error, and nothing of it is stored.
        case error = 1
        /// The chosen write stores half of its bytes and reports a full disk.
        case shortWrite = 2
        /// Every write from the chosen one on reports a full disk, until `heal()`.
        case diskFull = 3
        /// The process dies of SIGKILL before the chosen change.
        case kill = 4
        /// The process dies of SIGKILL in the middle of the chosen write.
        case tornKill = 5
        /// Nothing reaches a file from the chosen change on, as if the process had died there.
        case freeze = 6
    }

    /// Lets a fault strike at the n-th change from now: a write, truncation, sync or deletion.
    package func arm(_ fault: Fault, at change: Int) {
        fault_vfs_arm(layer, fault.rawValue, change)
    }

    /// Ends the fault and resets the counter.
    package func heal() {
        fault_vfs_disarm(layer)
    }

    /// Ends the fault if it is this one.
    package func heal(from fault: Fault) {
        fault_vfs_disarm_if(layer, fault.rawValue)
    }

    /// Every write from now on takes this much longer, as on a slow disk.
    package func slowDown(by delay: Duration) {
        fault_vfs_slow_down(layer, Int(delay / .microseconds(1)))
    }

    /// Takes back what was written through this layer and not made durable since, as a power cut would;
    /// a part of it, the earliest, may have reached the disk all the same.
    ///
    /// To be called once nothing is written any more, before the files are opened again.
    package func cutPower(survivorsInPercent: Int = 0) {
        fault_vfs_cut_power(layer, Int32(survivorsInPercent))
    }

    /// Sets the time of day that statements read, in milliseconds since 1970.
    package func setTime(millisecondsSince1970: Int64) {
        fault_vfs_set_time(layer, millisecondsSince1970)
    }

    /// Changes of files since the last `arm` or `heal`.
    package var changes: Int { fault_vfs_changes(layer) }

    /// Calls that made a file durable since the last `arm` or `heal`.
    package var syncs: Int { fault_vfs_syncs(layer) }
}
