import Subprocess
import TestSupport
import Testing

#if canImport(System)
    import System
#else
    import SystemPackage
#endif

@Suite("The agent under a service manager", .timeLimit(.minutes(30)))
struct ServiceManagerTests {
    @Test(
        "It reports readiness and status, pings the watchdog from its work, reloads, and stops"
    )
    func life() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("a")
        let manager = NotifySocket(path: "\(deployment.directory)/notify")
        let config = "\(deployment.directory)/a.yaml"
        let log = try FilePath("\(deployment.directory)/a.log").openedForAppending()
        let result = try await Subprocess.run(
            .path(FilePath("\(Programs.directory)/realm-agent")),
            arguments: ["run", "--config", config],
            environment: .inherit.updating([
                "NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "300000",
            ]),
            input: .none,
            output: .discarded,
            error: .fileDescriptor(log, closeAfterSpawningProcess: true)
        ) { execution in
            var told: [String] = []
            let isComplete = await eventually {
                told += manager.received()
                return told.contains("READY=1") && told.count { $0 == "WATCHDOG=1" } >= 3
                    && told.contains { $0.hasPrefix("STATUS=1 realm: 1 ") }
            }
            #expect(isComplete, "\(told) \(deployment.log("a"))")
            let status = try await Programs.run("realm-agent", ["status", "--config", config])
            #expect(status.status == 0)

            told = []
            try execution.send(signal: .terminalClosed)
            let isReloaded = await eventually {
                told += manager.received()
                let rest = told.drop { !$0.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") }
                // With the states of the realms, also if none changes.
                return rest.contains("READY=1")
                    && rest.contains { $0.hasPrefix("STATUS=1 realm: 1 ") }
            }
            #expect(isReloaded, "\(told)")

            try execution.send(signal: .terminate)
            let isStopping = await eventually {
                told += manager.received()
                return told.contains("STOPPING=1")
            }
            #expect(isStopping, "\(told)")
        }
        #expect(result.terminationStatus == .exited(0))
    }
}
