package import Config
import LocalRealm
import RealmSync

/// Imports JSON lines into the file of a configured realm.
///
/// Each batch of lines is one transaction, so the file is never locked while the input is idle.
package struct RealmIngest {
    private let ingest: Ingest
    private let isRehearsal: Bool
    private let batchSize: Int
    private var lines: [Ingest.Line] = []
    private var rest: [UInt8] = []
    private var lineNumber = 0
    private var bytesGathered = 0
    /// Number of committed lines.
    package private(set) var writtenCount = 0
    /// Counts of the reapplied changes of a client reset.
    package private(set) var report = RecoveredReport()

    /// Longer lines are refused: a larger object does not fit into a message.
    private static let lineLimitInBytes = 16 << 20
    /// A batch that has grown so large is written, however many lines it has.
    private static let batchLimitInBytes = 4 << 20

    package struct Failure: Error {
        /// A word with dots.
        package let code: String
        package let description: String
        /// Whether the configuration or the file's place is at fault rather than the input.
        package let isOfConfiguration: Bool
    }

    /// - Parameters:
    ///   - className: nil for lines that a client reset has written.
    ///   - batchSize: in lines; nil for everything at once, or nothing.
    package init(
        into realm: RealmConfiguration,
        className: String?,
        batchSize: Int?,
        isRehearsal: Bool
    ) throws(Failure) {
        self.isRehearsal = isRehearsal
        self.batchSize = batchSize ?? .max
        do {
            ingest = try Ingest(
                into: realm.path,
                className.map { .objects(className: $0) } ?? .recovered
            )
        } catch {
            throw Failure(error)
        }
    }

    /// Takes a piece of the input, which may end in the middle of a line.
    package mutating func take(_ piece: some Sequence<UInt8>) throws(Failure) {
        for byte in piece {
            guard byte == UInt8(ascii: "\n") else {
                rest.append(byte)
                guard rest.count <= Self.lineLimitInBytes else {
                    throw Failure(
                        code: "ingest.bad_object",
                        description: ":\(lineNumber + 1): error: ingest.bad_object: the line has "
                            + "more than 16 MiB; split the object",
                        isOfConfiguration: false
                    )
                }
                continue
            }
            try takeLine()
        }
    }

    /// Writes the gathered lines, because the input pauses. An atomic import waits for the end
    /// instead.
    package mutating func pause() throws(Failure) {
        if batchSize < .max { try write() }
    }

    /// The input has ended.
    package mutating func finish() throws(Failure) {
        try takeLine()
        try write()
        ingest.close()
    }

    private mutating func takeLine() throws(Failure) {
        lineNumber += 1
        defer { rest = [] }
        guard !rest.allSatisfy({ [0x20, 0x09, 0x0d].contains($0) }) else { return }
        lines.append(Ingest.Line(number: lineNumber, bytes: rest))
        bytesGathered += rest.count
        if lines.count >= batchSize || (batchSize < .max && bytesGathered >= Self.batchLimitInBytes)
        {
            try write()
        }
    }

    private mutating func write() throws(Failure) {
        guard !lines.isEmpty else { return }
        do {
            report.add(try ingest.write(lines, isRehearsal: isRehearsal))
        } catch {
            throw Failure(error)
        }
        writtenCount += lines.count
        lines = []
        bytesGathered = 0
    }
}

extension RealmIngest.Failure {
    fileprivate init(_ error: any Error) {
        switch error {
        case let refusal as Ingest.Refusal:
            code = refusal.code
            description = refusal.description
            isOfConfiguration = refusal.kind == .unknownClass
        case let error as LocalRealmError:
            code = error.code
            description = ": error: \(error.code): \(error.path): \(error.message); \(error.remedy)"
            isOfConfiguration = error.kind.isOfConfiguration
        default:
            code = "realm.database_error"
            description = ": error: realm.database_error: \(error)"
            isOfConfiguration = false
        }
    }
}
