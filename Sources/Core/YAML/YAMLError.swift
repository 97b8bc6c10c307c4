/// The reason why a text is not a valid document, and its location.
package struct YAMLError: Error, Hashable, Sendable {
    package let location: TextLocation
    package let problem: Problem

    package init(at location: TextLocation, _ problem: Problem) {
        self.location = location
        self.problem = problem
    }

    package enum Problem: Hashable, Sendable {
        /// In the words of libyaml; the context names the structure being read, and its first line.
        case syntax(String, context: Context?)
        case encoding(String)
        case tooLarge(limitInBytes: Int)
        case tooDeep(limit: Int)
        case tooManyNodes(limit: Int)
        case severalDocuments
        case unknownAnchor(String)
        /// An alias is inside the node that it names.
        case recursiveAlias(String)
        case keyIsNotText
        case mergeKey
        case unknownTag(String)
        case outOfMemory
    }

    package struct Context: Hashable, Sendable {
        package let text: String
        package let line: Int
    }
}

extension YAMLError.Problem {
    /// The problem, for people.
    package var description: String {
        switch self {
        case .syntax(let text, nil): text
        case .syntax(let text, .some(let context)):
            "\(text) (\(context.text) that begins on line \(context.line))"
        case .encoding(let text): text
        case .tooLarge(let limit): "the file is larger than \(limit) bytes"
        case .tooDeep(let limit): "collections are nested more than \(limit) levels deep"
        case .tooManyNodes(let limit): "the document holds more than \(limit) values"
        case .severalDocuments: "a second document begins here"
        case .unknownAnchor(let name): "no anchor \"\(name)\" is defined before this alias"
        case .recursiveAlias(let name): "the alias \"\(name)\" is inside its own anchor"
        case .keyIsNotText: "a key is a list or a mapping"
        case .mergeKey: "merge keys (<<) are not part of YAML 1.2"
        case .unknownTag(let tag): "unknown tag \"\(tag)\""
        case .outOfMemory: "not enough memory to read the file"
        }
    }

    /// The remedy, as a clause.
    package var remedy: String {
        switch self {
        case .syntax(let text, _): Self.remedy(forSyntax: text)
        case .encoding: "save the file as UTF-8 text"
        case .tooLarge, .tooManyNodes: "split it into smaller files"
        case .tooDeep: "no setting is nested this deep; check the brackets"
        case .severalDocuments: "keep one document in a file, without \"---\" in between"
        case .unknownAnchor: "define it with \"&\" above, or quote the value if \"*\" belongs to it"
        case .recursiveAlias: "write the value out"
        case .keyIsNotText: "use text as key; quote it if it begins with \"[\" or \"{\""
        case .mergeKey: "write the keys out"
        case .unknownTag: "remove the tag, or quote the value if \"!\" belongs to it"
        case .outOfMemory: "free some memory and try again"
        }
    }

    /// The usual cause of libyaml's most frequent messages.
    private static func remedy(forSyntax text: String) -> String {
        switch text {
        case "mapping values are not allowed in this context":
            "check the indentation, or quote the value if \": \" belongs to it"
        case "found character that cannot start any token":
            "indent with spaces, not tabs; quote a value that begins with \"@\", \"`\" or \"%\""
        case "did not find expected key", "did not find expected '-' indicator":
            "indent lines that belong together by the same number of spaces"
        case "could not find expected ':'":
            "write \"key: value\", with a blank after the colon"
        case "did not find expected ',' or ']'":
            "close the list with \"]\", and put a comma between its elements"
        case "did not find expected ',' or '}'":
            "close the mapping with \"}\", and put a comma between its entries"
        case "found unexpected end of stream":
            "close the quotes"
        default:
            "check quotes, brackets and indentation around this place"
        }
    }
}

extension YAMLError: CustomStringConvertible {
    package var description: String {
        "\(location): error: \(problem.description); \(problem.remedy)"
    }
}
