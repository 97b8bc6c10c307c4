import Changesets

/// The query of a subscription, in which only the id of a user may be missing.
///
/// A value that is filled in becomes the content of a string constant, written as base64: no value can
/// end the string or add an operator (flexible sync, 12.1).
package struct QueryTemplate: Hashable, Sendable {
    private var pieces: [Piece] = []

    private enum Piece: Hashable, Sendable {
        /// Text of the query as written.
        case text([UInt8])
        case string(UserTemplate)
    }

    /// The query for a user with this id.
    package func text(userID: String) -> [UInt8] {
        pieces.flatMap { piece in
            switch piece {
            case .text(let text): text
            case .string(let template):
                Array("B64\"".utf8) + Base64.encode(Array(template.text(userID: userID).utf8))
                    + Array("\"".utf8)
            }
        }
    }

    /// Whether the query is the same for every user.
    package var isFixed: Bool {
        pieces.allSatisfy { piece in
            if case .string(let template) = piece { template.fixedText != nil } else { true }
        }
    }

    mutating func append(_ text: some Sequence<UInt8>) {
        if case .text(let before) = pieces.last {
            pieces[pieces.count - 1] = .text(before + text)
        } else {
            pieces.append(.text(Array(text)))
        }
    }

    mutating func append(string: UserTemplate) {
        pieces.append(.string(string))
    }
}

extension QueryTemplate {
    /// A query without placeholders.
    package init(_ text: String) {
        append(text.utf8)
    }
}
