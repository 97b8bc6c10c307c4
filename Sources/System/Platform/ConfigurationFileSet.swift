import Glibc
package import Settings
import YAML

/// Reads a configuration from disk: the main file and its drop-ins.
package struct ConfigurationFileSet: Sendable {
    private let mainFile: String

    package init(mainFile: String) {
        self.mainFile = mainFile
    }

    /// The error of reading a file, as a clause: "permission denied".
    package struct Unreadable: Error, Hashable, Sendable {
        package let reason: String
    }

    /// For `NAME.yaml` the files `NAME.d/*.yaml`, not those of its subdirectories.
    private var dropInDirectory: String {
        let stem = mainFile.hasSuffix(".yaml") ? String(mainFile.dropLast(5)) : mainFile
        return "\(stem).d"
    }

    /// The main file first, then the drop-ins in lexical order; every unreadable file is reported.
    package func read() -> (sources: [ConfigurationSource], failures: [Diagnostic]) {
        var sources: [ConfigurationSource] = []
        var failures: [Diagnostic] = []
        var paths = [mainFile]
        switch dropIns() {
        case .success(let files): paths += files
        case .failure(let failure):
            failures.append(Self.diagnostic(dropInDirectory, failure))
        }
        for path in paths {
            switch Self.bytes(of: path) {
            case .success(let bytes):
                sources.append(ConfigurationSource(file: path, bytes: bytes))
            case .failure(let failure):
                failures.append(Self.diagnostic(path, failure))
            }
        }
        return (sources, failures)
    }

    /// None if the directory is missing; an existing one must be readable.
    private func dropIns() -> Result<[String], Unreadable> {
        guard let directory = opendir(dropInDirectory) else {
            return errno == ENOENT ? .success([]) : .failure(Self.lastError())
        }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
            )
        }
        return .success(
            names.filter(ConfigurationSource.isDropIn).sorted().map { "\(dropInDirectory)/\($0)" }
        )
    }

    /// A configuration is small: anything longer is some other file.
    private static let maximumSizeInBytes = 4 << 20

    /// A file of the configuration, or one that it names.
    package static func bytes(of path: String) -> Result<[UInt8], Unreadable> {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return .failure(lastError()) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count <= maximumSizeInBytes {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count == 0 { return .success(bytes) }
            guard count > 0 else { return .failure(lastError()) }
            bytes += chunk[..<count]
        }
        return .failure(Unreadable(reason: "it is larger than \(maximumSizeInBytes >> 20) MiB"))
    }

    private static func lastError() -> Unreadable {
        Unreadable(reason: String(cString: strerror(errno)).lowercased())
    }

    private static func diagnostic(_ path: String, _ failure: Unreadable) -> Diagnostic {
        Diagnostic(
            at: TextLocation(file: path, line: 1, column: 1),
            .unreadable,
            .root,
            "cannot be read: \(failure.reason)",
            remedy: "name the configuration with --config, or make it readable"
        )
    }
}
