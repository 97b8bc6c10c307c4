/// The bytes are not a document (moving an app, 10).
package struct BSONError: Error, Hashable, Sendable {
    package let problem: Problem
    /// From the start of the document.
    package let offset: Int

    package init(_ problem: Problem, at offset: Int) {
        self.problem = problem
        self.offset = offset
    }

    package enum Problem: Hashable, Sendable {
        case truncated
        case badLength(Int64)
        case unknownType(UInt8)
        case nameNotUTF8
        case notTerminated
        case nestedTooDeeply
    }
}

extension BSONError: CustomStringConvertible {
    package var description: String {
        switch problem {
        case .truncated: "the bytes end early"
        case .badLength(let length): "a length of \(length) is out of range"
        case .unknownType(let code): "an element has the unknown type \(code)"
        case .nameNotUTF8: "a name is not UTF-8"
        case .notTerminated: "a zero byte is missing at the end"
        case .nestedTooDeeply: "more than \(BSONLimits.depth) levels are nested"
        }
    }
}
