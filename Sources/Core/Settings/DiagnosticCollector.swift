package import YAML

/// Gathers all mistakes in a set of texts, so that people can correct them together.
///
/// It belongs to a single reading.
package final class DiagnosticCollector {
    private var collected: [Diagnostic] = []
    private var files: [String] = []
    /// The texts, to find places inside of values.
    private var sources: [String: [UInt8]] = [:]

    package init() {}

    /// In the order in which the files were parsed, and of the text in each.
    package var diagnostics: [Diagnostic] {
        collected.sorted { position(of: $0) < position(of: $1) }
    }

    package var hasErrors: Bool { errorCount > 0 }

    /// Compare before and after reading a value to learn whether it was valid.
    package private(set) var errorCount = 0

    package func report(_ diagnostic: Diagnostic) {
        collected.append(diagnostic)
        if diagnostic.severity == .error { errorCount += 1 }
    }

    /// The document of a text, an empty mapping if it has none; nil, and reported, if it is not
    /// YAML.
    package func parse(
        _ bytes: [UInt8],
        file: String,
        limits: YAMLLimits = .standard
    ) -> YAMLNode? {
        if !files.contains(file) { files.append(file) }
        sources[file] = bytes
        do {
            return try YAMLNode.parse(bytes, file: file, limits: limits)
                ?? YAMLNode(
                    location: TextLocation(file: file, line: 1, column: 1),
                    content: .mapping(YAMLMapping())
                )
        } catch {
            report(
                Diagnostic(
                    at: error.location,
                    error.problem.code,
                    .root,
                    error.problem.description,
                    remedy: error.problem.remedy
                )
            )
            return nil
        }
    }

    /// The text of a parsed file.
    func source(of file: String) -> [UInt8]? { sources[file] }

    private func position(of diagnostic: Diagnostic) -> (Int, Int, Int) {
        let location = diagnostic.location
        return (
            files.firstIndex(of: location.file) ?? files.count, location.line, location.column
        )
    }
}

extension YAMLError.Problem {
    fileprivate var code: Diagnostic.Code {
        switch self {
        case .tooLarge, .tooDeep, .tooManyNodes, .outOfMemory: .tooLarge
        case .syntax, .encoding, .severalDocuments, .unknownAnchor, .recursiveAlias, .keyIsNotText,
            .mergeKey, .unknownTag:
            .syntax
        }
    }
}
