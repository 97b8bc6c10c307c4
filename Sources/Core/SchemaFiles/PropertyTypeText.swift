import Changesets
import Schemas
import Settings

/// The type of a property as a schema file spells it: `string?`, `list<link<Person>>`.
struct PropertyTypeText: Hashable {
    let type: PropertyType
    let collection: CollectionType
    let isNullable: Bool
    /// Whether a link is spelled `embedded<…>`: the target's objects belong to the slots.
    let isEmbedded: Bool

    init(
        type: PropertyType,
        collection: CollectionType = .single,
        isNullable: Bool,
        isEmbedded: Bool = false
    ) {
        self.type = type
        self.collection = collection
        self.isNullable = isNullable
        self.isEmbedded = isEmbedded
    }

    static let scalars: [(word: String, type: PropertyType)] = [
        ("int", .int), ("bool", .bool), ("string", .string), ("binary", .binary),
        ("timestamp", .timestamp), ("float", .float), ("double", .double),
        ("decimal", .decimal), ("object_id", .objectID), ("uuid", .uuid), ("mixed", .mixed),
    ]
    private static let collections: [(word: String, type: CollectionType)] = [
        ("list", .list), ("set", .set), ("dictionary", .dictionary),
    ]

    var target: Text? {
        guard case .link(let target) = type else { return nil }
        return target
    }
}

// MARK: Writing

extension PropertyTypeText: CustomStringConvertible {
    var description: String {
        guard let collection = Self.collections.first(where: { $0.type == collection }) else {
            return element
        }
        return "\(collection.word)<\(element)>"
    }

    private var element: String {
        switch type {
        case .link(let target): "\(isEmbedded ? "embedded" : "link")<\(target)>"
        case .mixed: "mixed"
        default:
            (Self.scalars.first { $0.type == type }?.word ?? "") + (isNullable ? "?" : "")
        }
    }
}

// MARK: Reading

extension PropertyTypeText {
    struct Problem: Error {
        let problem: String
        let remedy: String
    }

    init(_ text: String) throws(Problem) {
        for (word, collection) in Self.collections {
            guard let content = try Self.content(of: word, in: text) else { continue }
            self = try Self.element(content, in: collection)
            return
        }
        self = try Self.element(text, in: .single)
    }

    private static func element(
        _ text: String,
        in collection: CollectionType
    ) throws(Problem) -> PropertyTypeText {
        if let target = try content(of: "link", in: text) {
            return PropertyTypeText(
                type: .link(target: Text(target)),
                collection: collection,
                isNullable: nullabilityOfLinks(in: collection)
            )
        }
        if let target = try content(of: "embedded", in: text) {
            guard collection != .set else {
                throw Problem(
                    problem: "a set cannot hold embedded objects",
                    remedy: "use list<\(text)>"
                )
            }
            return PropertyTypeText(
                type: .link(target: Text(target)),
                collection: collection,
                isNullable: nullabilityOfLinks(in: collection),
                isEmbedded: true
            )
        }
        return try scalar(text, in: collection)
    }

    private static func scalar(
        _ text: String,
        in collection: CollectionType
    ) throws(Problem) -> PropertyTypeText {
        let isNullable = text.hasSuffix("?")
        let word = isNullable ? String(text.dropLast()) : text
        guard let scalar = scalars.first(where: { $0.word == word }) else {
            throw unknown(word, in: collection)
        }
        guard scalar.type != .mixed || !isNullable else {
            throw Problem(problem: "mixed can always be null", remedy: "remove the \"?\"")
        }
        return PropertyTypeText(
            type: scalar.type,
            collection: collection,
            isNullable: isNullable || scalar.type == .mixed
        )
    }

    /// As on the wire: slots of lists and sets are never null (changesets spec, 5, AddColumn).
    private static func nullabilityOfLinks(in collection: CollectionType) -> Bool {
        collection == .single || collection == .dictionary
    }

    /// The text between `word<` and the last `>`; nil if the text does not begin with the word.
    private static func content(of word: String, in text: String) throws(Problem) -> String? {
        guard text.hasPrefix(word + "<") else { return nil }
        let content = text.dropFirst(word.count + 1)
        if content.hasSuffix(">"), content.count > 1 { return String(content.dropLast()) }
        if content.hasSuffix(">?") {
            throw Problem(
                problem: nullabilityIsFixed(of: word),
                remedy: "remove the \"?\""
            )
        }
        throw Problem(
            problem: "is not a complete type",
            remedy:
                "write \(word)<…> with \(word == "link" || word == "embedded" ? "a class" : "a type") in between"
        )
    }

    private static func nullabilityIsFixed(of word: String) -> String {
        switch word {
        case "link": "a link can always be null"
        case "embedded": "an embedded object can always be null"
        default: "a \(word) is never null"
        }
    }

    private static func unknown(_ word: String, in collection: CollectionType) -> Problem {
        if collection != .single, collections.contains(where: { word.hasPrefix($0.word + "<") }) {
            return Problem(
                problem: "a collection cannot hold collections",
                remedy: "use mixed for what is nested, or a list of embedded objects"
            )
        }
        let words = scalars.map(\.word)
        let templates = ["link<Class>", "embedded<Class>"]
        if let word = Suggestion.nearest(to: word, among: words) {
            return Problem(problem: "unknown type", remedy: "did you mean \"\(word)\"?")
        }
        return Problem(
            problem: "unknown type",
            remedy: "use \(Suggestion.list(words + templates))"
                + (collection == .single ? ", or a list, set or dictionary of them" : "")
        )
    }
}
