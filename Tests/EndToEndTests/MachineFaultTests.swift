import FoundationEssentials
import TestSupport
import Testing

/// Faults of the machine and of what expires with time, as FaultWordsTests has those of the network and the server.
@Suite(
    "Faults of disk, clock, certificate and token, with the real programs",
    .serialized,
    .timeLimit(.minutes(30))
)
struct MachineFaultTests {
    @Test(
        "A full disk, until space is freed",
        .enabled(if: SmallDisk.obstacle == nil, "\(SmallDisk.obstacle ?? "")")
    )
    func diskFull() async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        try world.configure("north")
        try world.configure("south")
        let data = "\(world.deployment.directory)/north"
        try await SmallDisk.with(at: data, sizeInMebibytes: 64) { disk in
            try await world.deployment.withServer { _ in
                #expect(try await world.deployment.sync("south").status == 0)
                try await world.deployment.withAgent("north") { _ in
                    #expect(try await world.deployment.sync("north").status == 0)
                    try await disk.fill()
                    // More than the write-ahead log has room for.
                    try await world.write(
                        """
                        WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
                        INSERT INTO Item(_id, owner) SELECT i, printf('%0200d', i) FROM n;
                        """,
                        on: "south"
                    )
                    #expect(try await world.deployment.sync("south").status == 0)
                    try await world.expectWords(
                        "realm.disk_full",
                        "failed",
                        exit: 1,
                        remedy: "free disk space; sync resumes automatically"
                    )
                    let doctor = try await world.agent("north", "doctor")
                    #expect(
                        doctor.output.contains("PROBLEM  disk  \(data): 0 MiB are free"),
                        "\(doctor.output)"
                    )
                    disk.free()
                    try await world.expectState("open", on: "north")
                    #expect(try await world.deployment.sync("north").status == 0)
                    #expect(try await world.deployment.count("north") == 20_000)
                }
            }
        }
    }

    @Test(
        "A server that starts while its disk is full, until space is freed",
        .enabled(if: SmallDisk.obstacle == nil, "\(SmallDisk.obstacle ?? "")")
    )
    func serverDiskFull() async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        try world.configure("north")
        let data = "\(world.deployment.directory)/server"
        try await SmallDisk.with(at: data, sizeInMebibytes: 16) { disk in
            try await world.deployment.withServer { _ in
                let outcome = try await world.deployment.sync("north")
                #expect(outcome.status == 0, "\(outcome.errors)")
            }
            try await disk.fill()
            try await world.deployment.withDaemon(
                "realm-server",
                ["serve", "--config", "\(world.deployment.directory)/server.yaml"],
                log: "server",
                isUp: { world.deployment.log("server").contains("waiting for space on the disk") }
            ) { _ in
                let log = world.deployment.log("server")
                #expect(log.contains("code=store.disk_full"), "\(log)")
                #expect(log.contains("free disk space; the server resumes automatically"), "\(log)")
                disk.free()
                let isUp = try await eventually {
                    try await world.deployment.sync("north").status == 0
                }
                #expect(isUp, "\(world.deployment.log("server"))")
            }
        }
    }

    @Test("A store's file that is moved away under the server, until it is back")
    func storeMoved() async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        try world.configure("north")
        let store = "\(world.deployment.directory)/server/server.sqlite"
        try await world.deployment.withServer { _ in
            try await world.deployment.withAgent("north") { _ in
                let first = try await world.deployment.sync("north")
                #expect(first.status == 0, "\(first.errors)")
                try FileManager.default.moveItem(atPath: store, toPath: store + ".away")
                try await world.write("INSERT INTO Item(_id, owner) VALUES (1, 'a')", on: "north")
                let refused = await eventually {
                    world.deployment.log("server").contains("code=store.replaced")
                }
                #expect(refused, "\(world.deployment.log("server"))")
                let log = world.deployment.log("server")
                #expect(log.contains("put the file back, and the server resumes"), "\(log)")
                let pending = try await world.agent("north", "sync", "--timeout", "1s")
                #expect(pending.status != 0, "an upload into a file that is gone is acknowledged")
                let health = try await Programs.run(
                    "realm-server",
                    ["health", "--config", "\(world.deployment.directory)/server.yaml"]
                )
                #expect(health.status != 0, "\(health.output)")
                #expect(
                    health.output.contains("moved or replaced"),
                    "\(health.output)\(health.errors)"
                )
                try FileManager.default.moveItem(atPath: store + ".away", toPath: store)
                let healed = try await eventually {
                    try await world.deployment.sync("north").status == 0
                }
                #expect(healed, "\(world.deployment.log("server"))")
                #expect(world.deployment.log("server").contains("the store can write again"))
            }
        }
    }

    @Test(
        "An agent that starts while its disk is full, until space is freed",
        .enabled(if: SmallDisk.obstacle == nil, "\(SmallDisk.obstacle ?? "")")
    )
    func agentDiskFull() async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        try world.configure("north")
        let data = "\(world.deployment.directory)/north"
        try await SmallDisk.with(at: data, sizeInMebibytes: 16) { disk in
            try await world.deployment.withServer { _ in
                try await world.deployment.withAgent("north") { _ in
                    let outcome = try await world.deployment.sync("north")
                    #expect(outcome.status == 0, "\(outcome.errors)")
                }
                // A log that stayed behind would let it start without more space.
                let left = try FileManager.default.contentsOfDirectory(atPath: data)
                #expect(!left.contains("metadata.sqlite-wal"), "\(left)")
                try await disk.fill()
                try await world.deployment.withDaemon(
                    "realm-agent",
                    ["run", "--config", "\(world.deployment.directory)/north.yaml"],
                    log: "north",
                    isUp: {
                        world.deployment.log("north").contains("waiting for space on the disk")
                    }
                ) { _ in
                    let log = world.deployment.log("north")
                    #expect(log.contains("code=agent.disk_full"), "\(log)")
                    #expect(
                        log.contains("free disk space; the agent starts automatically"),
                        "\(log)"
                    )
                    disk.free()
                    try await world.expectState("open", on: "north")
                    #expect(try await world.deployment.sync("north").status == 0)
                }
            }
        }
    }

    @Test("A clock that shows a time before 2015, until it is set")
    func clock() async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        try world.configure("north")
        let clock = try MovedClock(in: world.deployment.directory)
        try await world.deployment.withServer { _ in
            #expect(try await world.deployment.sync("north").status == 0)
            try clock.set(offsetInSeconds: -5000 * 86_400)
            try await world.deployment.withAgent("north", through: clock.wrapper) { _ in
                // The log says when it was written; the agent cannot tell when it is now.
                try await world.write(
                    """
                    INSERT INTO Item(_id, owner) VALUES (1, 'a');
                    UPDATE _realm_capture SET at = 1388534400000;
                    """,
                    on: "north"
                )
                try await world.expectWords(
                    "clock.before_epoch",
                    "failed",
                    exit: 1,
                    remedy: "set the clock"
                )
                try clock.set(offsetInSeconds: 0)
                try await world.expectState("open", on: "north")
                #expect(try await world.deployment.sync("north").status == 0)
            }
        }
    }

    @Test("A server's certificate that has expired, until it is renewed")
    func certificate() async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        let directory = world.deployment.directory
        try world.configure("north")
        try world.deployment.write(
            "authority.pem",
            LoopbackCertificate.certificate + "\n" + ExpiredCertificate.certificate
        )
        try world.deployment.write("chain.pem", ExpiredCertificate.certificate)
        try world.deployment.write("key.pem", LoopbackCertificate.key)
        try world.change(
            "server.yaml",
            "  storage:",
            "  tls: { certificate: \(directory)/chain.pem, key: { file: \(directory)/key.pem } }\n  storage:"
        )
        try world.change(
            "north.yaml",
            "http://127.0.0.1:\(world.deployment.port)\n",
            "https://localhost:\(world.deployment.port)\n    tls: { ca_file: \(directory)/authority.pem }\n"
        )
        try await world.deployment.withServer { _ in
            try await world.deployment.withAgent("north") { _ in
                try await world.expectWords(
                    "connection.tls_failed",
                    "waiting-for-user",
                    exit: 3,
                    remedy: "the certificate's names and dates"
                )
                let doctor = try await world.agent("north", "doctor")
                let finding = doctor.output.split(separator: "\n").first {
                    $0.contains("PROBLEM  tls  app: ")
                }
                #expect(
                    finding?.contains("the certificate's names and dates") == true,
                    "\(doctor.output)"
                )
                try world.deployment.write("chain.pem", LoopbackCertificate.certificate)
                let reload = try await Programs.run(
                    "realm-server",
                    ["reload", "--config", "\(directory)/server.yaml"]
                )
                #expect(reload.status == 0, "\(reload.errors)")
                try await world.expectState("open", on: "north")
                #expect(try await world.deployment.sync("north").status == 0)
            }
        }
    }

    @Test("A log-in session that has expired, until the operator logs in again as the remedy says")
    func session() async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        try world.configure("north")
        let first = try await world.deployment.withServer { _ in
            try await world.deployment.sync("north")
        }
        #expect(first.status == 0)
        let clock = try MovedClock(in: world.deployment.directory)
        // Both tokens have expired: the longer lifetime is 60 days.
        try clock.set(offsetInSeconds: 61 * 86_400)
        try await world.deployment.withServer(through: clock.wrapper) { _ in
            try await world.deployment.withAgent("north") { _ in
                try await world.expectWords(
                    "auth.session_ended",
                    "login-required",
                    exit: 4,
                    remedy: "`realm-agent users login north`"
                )
                #expect(try await world.agent("north", "users", "login", "north").status == 0)
                try await world.expectState("open", on: "north")
                #expect(try await world.deployment.sync("north").status == 0)
            }
        }
    }
}
