import Changesets
import Permissions
import Query
import Schemas

/// The objects that a client file has: those that match its subscriptions and that its user may read,
/// by class, with the fields that the user may read (flexible sync, 1 and 11.7).
struct ClientView: Sendable {
    private let classes: [Text: ViewedClass]

    private struct ViewedClass: Sendable {
        let text: [UInt8]
        let query: CheckedQuery
        let evaluator: QueryEvaluator
        /// The positions of the fields that decide.
        let positions: Set<Int>
        let fields: VisibleFields

        init(_ query: CheckedQuery, text: [UInt8], _ fields: VisibleFields) {
            self.text = text
            self.query = query
            self.evaluator = QueryEvaluator(query)
            self.positions = query.positions
            self.fields = fields
        }
    }

    /// No objects.
    static let empty = ClientView(classes: [:])

    private init(classes: [Text: ViewedClass]) {
        self.classes = classes
    }

    init(_ subscriptions: [Text: CheckedQuery], _ rights: UserRights, _ schema: RealmSchema) {
        var classes: [Text: ViewedClass] = [:]
        for (name, query) in subscriptions {
            guard case .role(let role) = rights[name], let owner = schema[name],
                let view = ClassView(subscription: query, rights: rights[name])
            else { continue }
            let fields = role.fields.visible
            // A query by a field that the user may not read would tell its value.
            guard query.positions.allSatisfy({ fields.contains(owner.properties[$0].name) })
            else { continue }
            classes[name] = ViewedClass(view.query, text: CanonicalText.write(view.query), fields)
        }
        self.classes = classes
    }

    // MARK: The stored form

    /// Reads the stored form. A class whose query fits the schema no longer has no objects.
    init(stored: [UInt8], _ schema: RealmSchema) {
        // JSON has no line breaks of its own.
        let parts = stored.split(separator: UInt8(ascii: "\n"), maxSplits: 1).map { Array($0) }
        let fields = parts.count > 1 ? Self.body(parts[1]) : [:]
        var classes: [Text: ViewedClass] = [:]
        for (name, text) in parts.first.map(Self.body) ?? [:] {
            guard let parsed = try? QueryParser.parse(text, limits: Self.anyQuery),
                let query = try? QueryChecker.check(parsed, of: name, in: schema),
                let visible = fields[name].map({ VisibleFields(stored: $0) }) ?? .all
            else { continue }
            let part = JoinedQuery.parts(of: text)
            classes[name] = ViewedClass(
                query,
                text: part.count == 1 ? Array(part[0]) : text,
                visible
            )
        }
        self.classes = classes
    }

    private static func body(_ bytes: [UInt8]) -> [Text: [UInt8]] {
        (try? SubscriptionSetBody(decoding: bytes, limits: anySize))?.queries ?? [:]
    }

    /// Equal for equal views: the query of each class, and behind a line break the fields of the
    /// classes that are not visible whole.
    var stored: [UInt8] {
        let queries = SubscriptionSetBody(joining: classes.mapValues { [$0.text] }).encoded
        let limited = classes.filter { $0.value.fields != .all }
        guard !limited.isEmpty else { return queries }
        let fields = SubscriptionSetBody(queries: limited.mapValues(\.fields.stored)).encoded
        return queries + [UInt8(ascii: "\n")] + fields
    }

    /// These were admitted before.
    private static let anySize = SubscriptionLimits(
        bodySizeInBytes: .max,
        querySizeInBytes: .max,
        classes: .max,
        queriesPerClass: .max,
        nesting: .max,
        comparisons: .max
    )
    private static let anyQuery = QueryLimits(length: .max, nesting: .max)

    // MARK: Objects

    func contains(_ object: DocumentObject, _ className: Text) -> Bool {
        classes[className]?.evaluator.matches(object) == true
    }

    /// Nil if the image lacks a field that decides.
    func contains(_ image: ObjectImage, _ className: Text) -> Bool? {
        guard let viewed = classes[className] else { return false }
        guard image.missing.isDisjoint(with: viewed.positions) else { return nil }
        return viewed.evaluator.matches(image.object)
    }

    /// Those of all classes.
    var queries: [CheckedQuery] { classes.values.map(\.query) }

    /// Nil if the view has no objects of the class.
    func query(of className: Text) -> CheckedQuery? { classes[className]?.query }

    func fields(of className: Text) -> VisibleFields { classes[className]?.fields ?? .all }

    /// Whether objects of the class that both views have are the same in both.
    func hasSameFields(as other: ClientView, of className: Text) -> Bool {
        guard let mine = classes[className], let theirs = other.classes[className] else {
            return true
        }
        return mine.fields == theirs.fields
    }

    /// Whether both views have the same of the class.
    func isSame(as other: ClientView, _ className: Text) -> Bool {
        let (mine, theirs) = (classes[className], other.classes[className])
        return mine?.text == theirs?.text && mine?.fields == theirs?.fields
    }
}
