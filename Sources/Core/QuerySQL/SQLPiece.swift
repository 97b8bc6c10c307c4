/// A part of a condition. NULL in it counts as false.
enum SQLPiece: Hashable {
    case constant(Bool)
    /// Needs no parentheses inside others, nor between AND and OR.
    case sql(String)

    /// For a part that SQL cannot decide.
    static func undecided(_ bound: Bound) -> SQLPiece { .constant(bound == .wide) }

    var text: String {
        switch self {
        case .constant(let isTrue): isTrue ? "TRUE" : "FALSE"
        case .sql(let text): text
        }
    }

    /// NULL is false, and its negation true.
    var negated: SQLPiece {
        switch self {
        case .constant(let isTrue): .constant(!isTrue)
        case .sql(let text): .sql("(\(text)) IS NOT TRUE")
        }
    }

    /// NULL stays NULL.
    var inverse: SQLPiece {
        switch self {
        case .constant(let isTrue): .constant(!isTrue)
        case .sql(let text): .sql("NOT (\(text))")
        }
    }

    static func all(_ pieces: [SQLPiece]) -> SQLPiece { joined(pieces, " AND ", neutral: true) }

    static func any(_ pieces: [SQLPiece]) -> SQLPiece { joined(pieces, " OR ", neutral: false) }

    private static func joined(
        _ pieces: [SQLPiece],
        _ word: String,
        neutral: Bool
    ) -> SQLPiece {
        var texts: [String] = []
        for piece in pieces {
            switch piece {
            case .constant(neutral): continue
            case .constant: return piece
            case .sql(let text): texts.append(text)
            }
        }
        switch texts.count {
        case 0: return .constant(neutral)
        case 1: return .sql(texts[0])
        default: return .sql("(" + texts.joined(separator: word) + ")")
        }
    }
}
