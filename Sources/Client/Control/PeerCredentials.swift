import Glibc
import NIOCore

/// The process that connected to the socket, according to the kernel.
package struct PeerCredentials: Sendable, Equatable {
    package let user: UInt32
    /// The group of the process, and its supplementary ones.
    package let groups: Set<UInt32>

    package init(user: UInt32, groups: Set<UInt32>) {
        self.user = user
        self.groups = groups
    }

    /// Nil for a connection that is not over a Unix socket.
    static func of(_ channel: any Channel) async throws -> PeerCredentials? {
        let credentials = channel.eventLoop.submit { () throws -> PeerCredentials? in
            let found = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
                of: CInt.self,
                read
            )
            return found.flatMap(\.self)
        }
        return try await credentials.get()
    }

    /// The credentials that the process had when it connected.
    private static func read(from socket: CInt) -> PeerCredentials? {
        // `struct ucred`: process, user, group.
        var process: (pid: Int32, user: UInt32, group: UInt32) = (0, 0, 0)
        var size = socklen_t(MemoryLayout.size(ofValue: process))
        guard getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &process, &size) == 0, process.pid > 0
        else { return nil }
        var groups = [UInt32](repeating: 0, count: maximumGroupCount)
        size = socklen_t(groups.count * MemoryLayout<UInt32>.size)
        guard getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, &groups, &size) == 0 else {
            return PeerCredentials(user: process.user, groups: [process.group])
        }
        let count = Int(size) / MemoryLayout<UInt32>.size
        return PeerCredentials(
            user: process.user,
            groups: Set(groups.prefix(count)).union([process.group])
        )
    }

    /// The kernel's `NGROUPS_MAX`.
    private static let maximumGroupCount = 65_536
}
