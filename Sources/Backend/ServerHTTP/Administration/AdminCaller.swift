import FoundationEssentials
import Glibc
import NIOCore
import ServerStore

/// The caller on the admin socket, from the kernel.
struct AdminCaller: Hashable, Sendable {
    let user: UInt32
    let process: Int32
    /// The user who logged in on the machine before becoming that user; nil without a log-in.
    let login: UInt32?

    init(user: UInt32, process: Int32, login: UInt32? = nil) {
        self.user = user
        self.process = process
        self.login = login
    }

    /// Nil for a connection that is not over a Unix socket.
    static func of(_ channel: any Channel) async throws -> AdminCaller? {
        let caller = channel.eventLoop.submit { () throws -> AdminCaller? in
            let found = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
                of: CInt.self,
                read
            )
            return found.flatMap(\.self)
        }
        return try await caller.get()
    }

    private static func read(from socket: CInt) -> AdminCaller? {
        // `struct ucred`: process, user, group.
        var peer: (process: Int32, user: UInt32, group: UInt32) = (0, 0, 0)
        var size = socklen_t(MemoryLayout.size(ofValue: peer))
        guard getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0, peer.process > 0
        else { return nil }
        return AdminCaller(user: peer.user, process: peer.process, login: login(of: peer.process))
    }

    /// The audit subsystem of the kernel keeps it through `sudo` and the like.
    private static func login(of process: Int32) -> UInt32? {
        let file = URL(filePath: "/proc/\(process)/loginuid")
        guard let data = try? Data(contentsOf: file),
            let user = UInt32(String(decoding: data, as: UTF8.self).trimmed()), user != .max
        else { return nil }
        return user
    }
}
