import Glibc
import Subprocess
import Testing

@testable import Control

extension ControlTests {
    @Test(
        "Root, the agent's user, and members of the group may change things; other users may not",
        arguments: [
            (UInt32(0), [UInt32(0)], true), (900, [900], true), (1000, [1000], false),
            (1000, [1000, 77], true),
        ]
    )
    func whoMayChange(user: UInt32, groups: [UInt32], isAllowed: Bool) {
        let access = ControlAccess(agentUser: 900, group: 77)
        #expect(access.mayChange(PeerCredentials(user: user, groups: Set(groups))) == isAllowed)
        let withoutGroup = ControlAccess(agentUser: 900, group: nil)
        #expect(!withoutGroup.mayChange(PeerCredentials(user: 1000, groups: [1000, 77])))
    }

    @Test("A group that this machine does not have has no members")
    func unknownGroup() {
        #expect(ControlAccess.ofProcess(group: "no-such-group-here").group == nil)
        #expect(ControlAccess.ofProcess(group: "root").group == 0)
    }
}

@Suite("Other users at the control socket", .timeLimit(.minutes(10)))
struct OtherUsersTests {
    /// Sends a request as an unprivileged user with these supplementary groups, and returns the
    /// HTTP status.
    func status(
        _ method: String,
        _ path: String,
        groups: String,
        socket: String
    ) async throws -> String {
        let result = try await Subprocess.run(
            .name("setpriv"),
            arguments: [
                "--reuid=65534", "--regid=65534", "--groups=\(groups)", "curl", "--silent",
                "--output", "/dev/null", "--write-out", "%{http_code}", "--unix-socket", socket,
                "--request", method, "--data", #"{"level":"debug"}"#, "http://agent/\(path)",
            ],
            input: .none,
            output: .string(limit: 100),
            error: .discarded
        )
        return result.standardOutput
    }

    @Test(
        "Users that may open the socket may read; only members of the control group may change",
        .enabled(if: getuid() == 0, "becoming another user needs root")
    )
    func groups() async throws {
        let tests = ControlTests()
        // Group 0 owns the socket, group 4242 is the one that may change things.
        let access = ControlAccess(agentUser: 0, group: 4242)
        try await tests.withServer(access: access) { client in
            let socket = client.socketPath
            for (groups, reading, changing) in [
                ("0", "200", "403"), ("0,4242", "200", "200"), ("4242", "000", "000"),
            ] {
                let read = try await status("GET", "v1/log", groups: groups, socket: socket)
                #expect(read == reading, "reading as \(groups)")
                let change = try await status("PUT", "v1/log", groups: groups, socket: socket)
                #expect(change == changing, "changing as \(groups)")
            }
        }
    }
}
