import Glibc

/// Users that may change state through the control API. Every user that may open the socket may
/// read (interfaces, 6).
package struct ControlAccess: Sendable, Equatable {
    /// The user that the agent runs as.
    let agentUser: UInt32
    /// The group whose members may change things; nil if this machine has none of the name.
    let group: UInt32?

    package init(agentUser: UInt32, group: UInt32?) {
        self.agentUser = agentUser
        self.group = group
    }

    /// Permission for this process's user and the members of the named group.
    package static func ofProcess(group name: String) -> ControlAccess {
        var entry = Glibc.group()
        var found: UnsafeMutablePointer<Glibc.group>?
        var buffer = [CChar](repeating: 0, count: 1 << 16)
        let status = getgrnam_r(name, &entry, &buffer, buffer.count, &found)
        return ControlAccess(
            agentUser: getuid(),
            group: status == 0 && found != nil ? entry.gr_gid : nil
        )
    }

    /// Whether the machine has the group that the configuration names.
    package var hasGroup: Bool { group != nil }

    package func mayChange(_ peer: PeerCredentials) -> Bool {
        if peer.user == 0 || peer.user == agentUser { return true }
        guard let group else { return false }
        return peer.groups.contains(group)
    }
}
