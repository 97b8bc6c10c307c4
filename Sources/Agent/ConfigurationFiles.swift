package import Config
import FoundationEssentials
import Glibc
import Platform
package import Settings
import YAML

/// Reads the configuration from disk: the main file, and the drop-ins beside it.
package struct ConfigurationFiles: Sendable {
    private let mainFile: String

    package init(mainFile: String) {
        self.mainFile = mainFile
    }

    /// The configuration, nil if any diagnostic is an error.
    package struct Result: Sendable {
        package let configuration: AgentConfiguration?
        package let diagnostics: [Diagnostic]

        /// The same for who means to work with it: what this version cannot serve yet, which
        /// reading only warns of, is an error.
        package var toServe: Result {
            let diagnostics = diagnostics.map { $0.code == .unsupported ? $0.asError : $0 }
            let hasErrors = diagnostics.contains { $0.severity == .error }
            return Result(
                configuration: hasErrors ? nil : configuration,
                diagnostics: diagnostics
            )
        }
    }

    /// For `realm-agent.yaml` the files `realm-agent.d/*.yaml`, not those of its subdirectories.
    private var dropInDirectory: String {
        let stem = mainFile.hasSuffix(".yaml") ? String(mainFile.dropLast(5)) : mainFile
        return "\(stem).d"
    }

    package func load() -> Result {
        let host = Host.current()
        let (sources, failures) = read()
        guard failures.isEmpty, let main = sources.first else {
            return Result(configuration: nil, diagnostics: failures)
        }
        let loaded = ConfigurationLoader.load(
            main: main,
            dropIns: Array(sources.dropFirst()),
            surroundings: Surroundings(
                hostName: host.name,
                machineID: host.machineID.isEmpty ? nil : host.machineID,
                environment: ProcessInfo.processInfo.environment,
                readFile: Self.read
            )
        )
        return Result(configuration: loaded.configuration, diagnostics: loaded.diagnostics)
    }

    /// All files as one text, without what may be secret; empty if they cannot be read.
    package func text(withOrigins: Bool) -> String {
        let (sources, failures) = read()
        guard failures.isEmpty, let main = sources.first else { return "" }
        return ConfigurationLoader.text(
            main: main,
            dropIns: Array(sources.dropFirst()),
            withOrigins: withOrigins
        )
    }

    /// The main file first; nothing is left out without being told.
    private func read() -> (sources: [ConfigurationSource], failures: [Diagnostic]) {
        var sources: [ConfigurationSource] = []
        var failures: [Diagnostic] = []
        var paths = [mainFile]
        switch dropIns() {
        case .success(let files): paths += files
        case .failure(let failure):
            failures.append(.unreadable(dropInDirectory, failure.reason))
        }
        for path in paths {
            switch Self.read(path) {
            case .success(let bytes):
                sources.append(ConfigurationSource(file: path, bytes: bytes))
            case .failure(let failure):
                failures.append(.unreadable(path, failure.reason))
            }
        }
        return (sources, failures)
    }

    /// None where the directory is missing; one that is there must be readable.
    private func dropIns() -> Swift.Result<[String], FileFailure> {
        guard let directory = opendir(dropInDirectory) else {
            return errno == ENOENT ? .success([]) : .failure(.init(reason: Self.errorText()))
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

    /// A configuration is small: whatever is longer than this is some other file.
    private static let maximumSizeInBytes = 4 << 20

    private static func read(_ path: String) -> Swift.Result<[UInt8], FileFailure> {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return .failure(.init(reason: errorText())) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count <= maximumSizeInBytes {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count == 0 { return .success(bytes) }
            guard count > 0 else { return .failure(.init(reason: errorText())) }
            bytes += chunk[..<count]
        }
        return .failure(.init(reason: "it is larger than \(maximumSizeInBytes >> 20) MiB"))
    }

    private static func errorText() -> String {
        String(cString: strerror(errno)).lowercased()
    }
}

extension Diagnostic {
    fileprivate static func unreadable(_ path: String, _ reason: String) -> Diagnostic {
        Diagnostic(
            at: TextLocation(file: path, line: 1, column: 1),
            .unreadable,
            .root,
            "cannot be read: \(reason)",
            remedy: "name the configuration with --config, or make it readable"
        )
    }
}
