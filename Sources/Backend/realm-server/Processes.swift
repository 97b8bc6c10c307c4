import ArgumentParser
import ServerConfig
import ServerHTTP
import ServerStorage

struct Processes: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the processes of a server on PostgreSQL.",
        discussion: """
            Asks the database: it works from any machine with the configuration. Exit status: 0, or 1 \
            if the database cannot be read.
            """
    )

    @OptionGroup var file: ConfigurationFile

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        guard case .postgreSQL(let location) = try file.read().storage else {
            throw ValidationError("server.storage is not on PostgreSQL: there is one process")
        }
        let processes = try StoreCommand.reporting {
            try ProcessReport.all(location, StoreCommand.secrets)
        }
        guard !json else {
            return print(String(decoding: try AdminJSON.encode(processes), as: UTF8.self))
        }
        for process in processes {
            print(
                "\(process.host) pid \(process.pid): "
                    + (process.isAlive ? "alive" : "not seen for \(process.secondsSinceSeen) s")
                    + ", version \(process.program), \(process.connections) connections, "
                    + "\(process.sessions) sessions, clock \(process.clockOffset) ms"
            )
        }
    }
}
