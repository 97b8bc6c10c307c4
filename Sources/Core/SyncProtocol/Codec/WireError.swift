/// The reason why bytes are not a valid message, and its offset (wire protocol, 3).
package struct WireError: Error, Hashable, Sendable {
    /// Bytes before the invalid field; in an entry, bytes of the uncompressed body.
    package let offset: Int
    package let problem: Problem

    package init(at offset: Int, _ problem: Problem) {
        self.offset = offset
        self.problem = problem
    }

    package enum Problem: Hashable, Sendable {
        case unknownMessage(name: String)
        /// The head, or a body that is not made of entries.
        case head(FieldProblem)
        /// The message exists, but in the other mode of sync.
        case otherMode(message: String, expected: SyncMode)
        case bodySize(announced: UInt64, actual: Int)
        case tooLarge(field: String, announced: UInt64, limit: UInt64)
        case tooManyChangesets(limit: Int)
        case decompression
        /// The numbers before a changeset.
        case entry(FieldProblem)
        case entrySize(announced: UInt64, remaining: Int)
        case json(String)
    }

    package enum FieldProblem: Hashable, Sendable {
        case malformed(field: String)
        case outOfRange(field: String)
        /// The field is not followed by its separator.
        case separator(after: String)
        case unknownValue(field: String)
    }
}

extension WireError {
    /// A server's reaction to a message with this error.
    package enum ServerReaction: Hashable, Sendable {
        case report(ConnectionFault)
        /// No error code may be sent for a message that is too large.
        case close(CloseCode)
    }

    package var serverReaction: ServerReaction {
        switch problem {
        case .unknownMessage: .report(.unknownMessage)
        case .head, .otherMode, .bodySize, .json: .report(.badSyntax)
        case .tooLarge, .tooManyChangesets: .close(.messageTooBig)
        case .decompression: .report(.badDecompression)
        case .entry: .report(.badChangesetHeaderSyntax)
        case .entrySize: .report(.badChangesetSize)
        }
    }
}

extension WireError: CustomStringConvertible {
    package var description: String {
        "bad sync message at byte \(offset): \(problem.description)"
    }
}

extension WireError.Problem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unknownMessage(let name): "unknown message \"\(name)\""
        case .head(let problem): "head: \(problem.description)"
        case .otherMode(let message, let expected):
            "\(message) has the form of the other mode; this connection is \(expected.description)"
        case .bodySize(let announced, let actual):
            "the head announces a body of \(announced) bytes, but \(actual) follow"
        case .tooLarge(let field, let announced, let limit):
            "\(field) of \(announced) bytes is above the limit of \(limit)"
        case .tooManyChangesets(let limit): "more than \(limit) changesets in one message"
        case .decompression: "the body does not decompress to the announced size"
        case .entry(let problem): "changeset header: \(problem.description)"
        case .entrySize(let announced, let remaining):
            "a changeset of \(announced) bytes where \(remaining) are left"
        case .json(let reason): "JSON body: \(reason)"
        }
    }
}

extension WireError.FieldProblem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .malformed(let field): "\(field) is not a number"
        case .outOfRange(let field): "\(field) is out of range"
        case .separator(let field): "no single separator after \(field)"
        case .unknownValue(let field): "\(field) has an unknown value"
        }
    }
}
