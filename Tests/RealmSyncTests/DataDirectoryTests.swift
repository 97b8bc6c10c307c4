import Glibc
import TestSupport
import Testing

@testable import RealmSync

@Suite("The agent's files and their modes", .serialized)
struct DataDirectoryTests {
    let temporary: TemporaryDirectory
    let directory: DataDirectory

    init() throws {
        self.temporary = try TemporaryDirectory()
        self.directory = DataDirectory(path: temporary.file("a/b/data"))
    }

    func mode(_ path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
    }

    @Test("Directories get the modes of the specification under every umask")
    func modes() throws {
        try directory.prepare()
        #expect(mode(directory.path) == 0o750)
        #expect(mode("\(directory.path)/private") == 0o700)
        #expect(mode("\(directory.path)/realms") == 0o750)
        let realm = directory.realm("stock")
        try DataDirectory.prepareRealmDirectory(of: realm)
        #expect(realm == "\(directory.path)/realms/stock/stock.sqlite")
        #expect(mode("\(directory.path)/realms/stock") == 0o2770)
        // A second start finds everything in place.
        try directory.prepare()
        try DataDirectory.prepareRealmDirectory(of: realm)
    }

    @Test("The directory of the tokens is closed again, others keep the mode they were given")
    func existing() throws {
        try directory.prepare()
        chmod("\(directory.path)/private", 0o755)
        chmod(directory.path, 0o755)
        try directory.prepare()
        #expect(mode("\(directory.path)/private") == 0o700)
        #expect(mode(directory.path) == 0o755)
    }

    @Test("The metadata database and its log are for the agent alone")
    func metadata() async throws {
        try directory.prepare()
        _ = try MetadataDatabase(path: directory.metadata)
        #expect(mode(directory.metadata) == 0o600)
        for suffix in ["-wal", "-shm"] {
            if let mode = mode(directory.metadata + suffix) { #expect(mode == 0o600) }
        }
    }

    @Test("A file in place of a directory is named, with a remedy")
    func fileInTheWay() throws {
        let path = temporary.file("file")
        close(open(path, O_WRONLY | O_CREAT, 0o600))
        let failure = #expect(throws: DataDirectory.Failure.self) {
            try DataDirectory(path: path).prepare()
        }
        #expect(
            failure?.description
                == "\(path) cannot be used: it is not a directory; create it writable for the "
                + "user of this program, or set agent.data_directory"
        )
        let below = #expect(throws: DataDirectory.Failure.self) {
            try DataDirectory(path: "\(path)/data").prepare()
        }
        #expect(below?.reason == "Not a directory")
    }

    @Test(
        "A directory that cannot be created gives the reason",
        .enabled(if: access("/proc", F_OK) == 0)
    )
    func impossible() {
        let failure = #expect(throws: DataDirectory.Failure.self) {
            try DataDirectory(path: "/proc/realm-agent").prepare()
        }
        #expect(failure?.path == "/proc/realm-agent")
        #expect(failure?.reason == "No such file or directory")
    }

    @Test("One agent at a time has the lock, and the next one gets it afterwards")
    func lock() throws {
        try directory.prepare()
        do {
            let lock = try DirectoryLock(path: directory.lock)
            let failure = #expect(throws: DirectoryLock.Failure.held(path: directory.lock)) {
                _ = try DirectoryLock(path: directory.lock)
            }
            #expect(failure?.description.contains(directory.lock) == true)
            _ = consume lock
        }
        _ = try DirectoryLock(path: directory.lock)
        #expect(mode(directory.lock) == 0o600)
        let unusable = #expect(throws: DirectoryLock.Failure.self) {
            _ = try DirectoryLock(path: "\(directory.path)/none/agent.lock")
        }
        #expect(unusable?.description.hasSuffix("No such file or directory") == true)
    }
}
