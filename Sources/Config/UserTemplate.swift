/// A text in which only the id of a user is still missing.
package struct UserTemplate: Hashable, Sendable {
    private var pieces: [Piece] = []

    private enum Piece: Hashable, Sendable {
        case text(String)
        case userID
    }

    init() {}

    /// A text in which each mark is the place of the id.
    init(_ text: String, marking mark: Character) {
        for (index, piece) in text.split(separator: mark, omittingEmptySubsequences: false)
            .enumerated()
        {
            if index > 0 { appendUserID() }
            append(String(piece))
        }
    }

    mutating func append(_ text: String) {
        if case .text(let before) = pieces.last {
            pieces[pieces.count - 1] = .text(before + text)
        } else {
            pieces.append(.text(text))
        }
    }

    mutating func append(_ other: UserTemplate) {
        for piece in other.pieces {
            switch piece {
            case .text(let text): append(text)
            case .userID: appendUserID()
            }
        }
    }

    mutating func appendUserID() {
        pieces.append(.userID)
    }

    package func text(userID: String) -> String {
        pieces.map { piece in
            switch piece {
            case .text(let text): text
            case .userID: userID
            }
        }.joined()
    }

    /// The text, if nothing is missing in it.
    package var fixedText: String? {
        pieces.contains(.userID) ? nil : text(userID: "")
    }
}
