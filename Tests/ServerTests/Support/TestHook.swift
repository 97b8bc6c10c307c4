import FoundationEssentials
import Glibc
import JSON

@testable import ServerConfig
@testable import ServerStore

/// A program of the operator's that keeps what it is asked and says what it was told to say.
struct TestHook {
    let directory: String

    init(in directory: String) throws {
        self.directory = directory
        let script = """
            #!/bin/sh
            cat >> "$1/requests"
            echo >> "$1/requests"
            test -e "$1/answer" && cat "$1/answer"
            exit "$(cat "$1/status" 2>/dev/null || echo 0)"
            """
        try write("hook.sh", script)
        chmod("\(directory)/hook.sh", 0o755)
    }

    var configuration: HookConfiguration {
        HookConfiguration(command: ["\(directory)/hook.sh", directory], timeout: .seconds(50))
    }

    func answer(_ text: String, status: Int = 0) throws {
        try write("answer", text)
        try write("status", "\(status)")
    }

    /// The requests so far, oldest first.
    var requests: [[String: JSONValue]] {
        let data = FileManager.default.contents(atPath: "\(directory)/requests") ?? Data()
        return String(decoding: data, as: UTF8.self).split(separator: "\n").compactMap { line in
            try? JSONDecoder().decode([String: JSONValue].self, from: Data(line.utf8))
        }
    }

    private func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(filePath: "\(directory)/\(name)"))
    }
}
