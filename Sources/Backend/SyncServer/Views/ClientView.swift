import Changesets
import Permissions
import Query
import Schemas

/// The objects that a client file has: those that match its subscriptions and that its user may read,
/// by class (flexible sync, 1).
struct ClientView: Sendable {
    private let classes: [Text: ViewedClass]

    private struct ViewedClass: Sendable {
        let text: [UInt8]
        let query: CheckedQuery
        let evaluator: QueryEvaluator

        init(_ query: CheckedQuery, text: [UInt8]) {
            self.text = text
            self.query = query
            self.evaluator = QueryEvaluator(query)
        }
    }

    /// No objects.
    static let empty = ClientView(classes: [:])

    private init(classes: [Text: ViewedClass]) {
        self.classes = classes
    }

    init(_ subscriptions: [Text: CheckedQuery], _ rights: UserRights) {
        var classes: [Text: ViewedClass] = [:]
        for (name, query) in subscriptions {
            // Views with some fields of an object only are not served yet.
            guard case .role(let role) = rights[name], role.fields.allowsReadingAll,
                let view = ClassView(subscription: query, rights: rights[name])
            else { continue }
            classes[name] = ViewedClass(view.query, text: CanonicalText.write(view.query))
        }
        self.classes = classes
    }

    /// Reads the stored form. A class whose query fits the schema no longer has no objects.
    init(stored: [UInt8], _ schema: RealmSchema) {
        var classes: [Text: ViewedClass] = [:]
        let body = try? SubscriptionSetBody(decoding: stored, limits: Self.anySize)
        for (name, text) in body?.queries ?? [:] {
            guard let parsed = try? QueryParser.parse(text, limits: Self.anyQuery),
                let query = try? QueryChecker.check(parsed, of: name, in: schema)
            else { continue }
            let part = JoinedQuery.parts(of: text)
            classes[name] = ViewedClass(query, text: part.count == 1 ? Array(part[0]) : text)
        }
        self.classes = classes
    }

    /// Equal for equal views.
    var stored: [UInt8] {
        SubscriptionSetBody(joining: classes.mapValues { [$0.text] }).encoded
    }

    /// These were admitted before.
    private static let anySize = SubscriptionLimits(
        bodySizeInBytes: .max,
        querySizeInBytes: .max,
        classes: .max,
        queriesPerClass: .max,
        nesting: .max
    )
    private static let anyQuery = QueryLimits(length: .max, nesting: .max)

    func contains(_ object: DocumentObject, _ className: Text) -> Bool {
        classes[className]?.evaluator.matches(object) == true
    }

    /// Nil if the view has no objects of the class.
    func query(of className: Text) -> CheckedQuery? { classes[className]?.query }

    /// Whether both views have the same objects of the class.
    func isSame(as other: ClientView, _ className: Text) -> Bool {
        classes[className]?.text == other.classes[className]?.text
    }
}
