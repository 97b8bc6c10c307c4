internal import Changesets
internal import Documents

extension Ingest {
    /// The reason for refusing a line.
    package struct Refusal: Error, Hashable, Sendable {
        package let kind: Kind
        /// From 1; 0 if the error concerns no line.
        package let line: Int
        /// The position in the line, in bytes from 1, at which it is not JSON.
        package let column: Int?
        /// The path inside the object: `lines[2].zip`; empty for the whole object.
        package let place: String
        package let problem: String
        package let remedy: String

        package enum Kind: String, Sendable, CaseIterable {
            case badObject = "ingest.bad_object"
            case exists = "ingest.exists"
            case unknownClass = "ingest.unknown_class"
        }

        package var code: String { kind.rawValue }

        init(_ kind: Kind, line: Int, _ problem: String, remedy: String) {
            self.kind = kind
            self.line = line
            self.column = nil
            self.place = ""
            self.problem = problem
            self.remedy = remedy
        }

        init(_ error: FormError, line: Int, _ className: Text) {
            self.kind = .badObject
            self.line = line
            self.place = error.location
            self.problem = "\(error.problem)"
            if case .invalidJSON(_, let offset) = error.problem {
                self.column = offset + 1
                self.remedy = "write one JSON object on each line"
            } else {
                self.column = nil
                self.remedy = "`realm-agent schema` prints what \(className) has"
            }
        }
    }
}

extension Ingest.Refusal: CustomStringConvertible {
    /// Follows the name of the input: `:17: error: …`.
    package var description: String {
        let position = line == 0 ? "" : ":\(line)" + (column.map { ":\($0)" } ?? "")
        let subject = place.isEmpty ? "" : "\(place) "
        return "\(position): error: \(code): \(subject)\(problem); \(remedy)"
    }
}
