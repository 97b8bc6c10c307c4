import FoundationEssentials
import TestSupport
import Testing

/// Client reset, 1 and 12: programs keep the file open meanwhile.
@Suite(
    "Client resets beside programs that read and write, with the real programs",
    .serialized,
    .timeLimit(.minutes(30))
)
struct ResetBesideProgramsTests {
    @Test("Programs see one change, and their concurrent writes reach the server")
    func concurrentPrograms() async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        let deployment = world.deployment
        let directory = deployment.directory
        for agent in ["north", "south"] { try world.configure(agent) }
        try await deployment.withServer { _ in
            try await deployment.withAgent("north") { _ in
                #expect(try await deployment.sync("north").status == 0)
                let rows = (1...300).map { "(\($0), 'old')" }.joined(separator: ", ")
                try await world.write("INSERT INTO Item(_id, note) VALUES \(rows);", on: "north")
                #expect(try await deployment.sync("north").status == 0)
                #expect(try await world.agent("north", "suspend", "stock").status == 0)
                try await deployment.withAgent("south") { _ in
                    #expect(try await deployment.sync("south").status == 0)
                    try await world.write("UPDATE Item SET note = 'new';", on: "south")
                    #expect(try await deployment.sync("south").status == 0)
                }
                try await world.terminateSync()

                let file = deployment.file("north")
                // One connection each, from before the reset until after it.
                let reader = """
                    while [ ! -e '\(directory)/stop' ]; do
                        echo "SELECT sum(note = 'old'), sum(note = 'new') FROM Item WHERE _id <= 300;"
                        sleep 0.002
                    done | sqlite3 -cmd '.timeout 30000' '\(file)'
                    """
                let writer = """
                    i=10000
                    while [ ! -e '\(directory)/stop' ]; do
                        i=$((i + 1))
                        echo "INSERT INTO Item(_id, note) VALUES ($i, 'meanwhile');"
                        echo $i >'\(directory)/written'
                        sleep 0.005
                    done | sqlite3 -bail -cmd '.timeout 30000' '\(file)'
                    """
                async let reading = Programs.run("bash", ["-c", reader])
                async let writing = Programs.run("bash", ["-c", writer])
                let isWriting = try await eventually {
                    try await deployment.count("north", where: "_id > 10000") > 5
                }
                #expect(isWriting)
                #expect(try await world.agent("north", "resume", "stock").status == 0)
                let finished = try await world.reset("north", "finished")
                #expect(finished?.did_recover == true)
                let count = try await deployment.count("north", where: "_id > 10000")
                let goesOn = try await eventually {
                    try await deployment.count("north", where: "_id > 10000") > count + 5
                }
                #expect(goesOn, "what is written after the reset")
                try deployment.write("stop", "")
                let (seen, written) = try await (reading, writing)
                #expect(written.status == 0, "\(written.errors)")
                #expect(seen.status == 0, "\(seen.errors)")
                let views = seen.output.split(separator: "\n")
                #expect(Set(views) == ["300|0", "0|300"], "one change, and no other")
                #expect(views == views.sorted(by: >), "and never back")

                #expect(try await deployment.sync("north").status == 0)
                let last = Int(world.text("written").filter(\.isNumber)) ?? 0
                try await deployment.withAgent("south") { _ in
                    let isThere = try await eventually {
                        guard try await deployment.sync("south").status == 0 else { return false }
                        return try await deployment.count("south", where: "_id > 10000")
                            == last - 10000
                    }
                    #expect(isThere)
                    #expect(try await deployment.rows("south") == deployment.rows("north"))
                }
            }
        }
    }
}
