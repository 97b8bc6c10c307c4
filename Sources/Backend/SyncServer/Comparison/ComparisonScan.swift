import Changesets
import Crypto
import Digests
import Documents
import Query
import Schemas
import ServerStore
import Versions

/// Adds up the digests of the objects that a client has, class by class, or lists some of them. Reads
/// part by part, each time from the same state of the store.
struct ComparisonScan: Sendable {
    private let file: ServerFile
    private let schema: RealmSchema
    private let view: ReadableView?
    private let form: CanonicalForm
    private let excluded: Set<ObjectReference>
    private let buckets: [Text: Set<Int>]?
    private let limits: ComparisonLimits
    /// The classes to read, the current one first.
    private var classes: ArraySlice<ClassSchema>
    private var lastKey: ObjectKey?
    private var digest = ClassDigest()
    private var listedSizeInBytes = 0
    private(set) var response: DigestResponse

    /// - Parameters:
    ///   - excluded: objects that count on neither end.
    ///   - reported: those of them that the client learns of.
    init(
        _ request: DigestRequest,
        of file: ServerFile,
        _ schema: RealmSchema,
        _ view: ReadableView?,
        excluding excluded: Set<ObjectReference>,
        reporting reported: [ObjectReference],
        _ limits: ComparisonLimits
    ) {
        self.file = file
        self.schema = schema
        self.view = view
        self.form = CanonicalForm(schema, comparing: CanonicalForm.properties(of: schema))
        self.excluded = excluded
        self.limits = limits
        let buckets = request.list.map { list in
            Dictionary(
                list.map { (Text($0.key), Set($0.value)) },
                uniquingKeysWith: { first, _ in first }
            )
        }
        self.buckets = buckets
        self.classes =
            schema.classes.filter { owner in
                !owner.isEmbedded && !owner.isAsymmetric
                    && (buckets == nil || buckets?[owner.name]?.isEmpty == false)
            }[...]
        var response = DigestResponse(.compared, serverVersion: file.currentVersion.rawValue)
        response.changed = reported.map { object in
            DigestResponse.KeyEntry(
                className: object.className.description,
                key: Hexadecimal.text(of: CanonicalForm.bytes(of: object.key))
            )
        }
        if buckets == nil { response.classes = [] } else { response.objects = [] }
        self.response = response
    }

    var isComplete: Bool { classes.isEmpty }

    /// Reads the next part.
    mutating func advance(from store: any FileReading) throws(StoreError) {
        guard let owner = classes.first else { return }
        var sizeInBytes = 0
        var isFull = false
        try forEach(of: owner, from: store) { part, key, json in
            sizeInBytes += json.count
            part.lastKey = key
            part.visit(key, json, of: owner)
            isFull = sizeInBytes > part.limits.partSizeInBytes || part.response.isTruncated == true
            return isFull ? .stop : .next
        }
        if response.isTruncated == true { return classes = [] }
        guard !isFull else { return }
        if buckets == nil {
            response.classes?.append(
                DigestResponse.ClassEntry(
                    name: owner.name.description,
                    objects: digest.count,
                    digest: digest.sumText,
                    buckets: digest.bucketText
                )
            )
        }
        classes.removeFirst()
        (lastKey, digest) = (nil, ClassDigest())
    }

    private mutating func forEach(
        of owner: ClassSchema,
        from store: any FileReading,
        _ body: (inout ComparisonScan, ObjectKey, [UInt8]) -> Visit
    ) throws(StoreError) {
        var part = self
        if let view {
            guard let query = view.query(of: owner.name) else { return }
            try store.forEachCandidate(
                for: [query],
                of: owner.name,
                in: file.id,
                after: lastKey
            ) { body(&part, $0, $1) }
        } else {
            try store.forEachDocument(of: owner.name, in: file.id, after: lastKey) {
                body(&part, $0, $1)
            }
        }
        self = part
    }

    private mutating func visit(_ key: ObjectKey, _ json: [UInt8], of owner: ClassSchema) {
        let object = ObjectReference(className: owner.name, key: key)
        guard !excluded.contains(object) else { return }
        let keyBytes = CanonicalForm.bytes(of: key)
        let bucket = ClassDigest.bucket(of: keyBytes)
        if let buckets, buckets[owner.name]?.contains(bucket) != true { return }
        var document = try? JSONForm(schema: schema).decodeDocument(json, of: owner)
        if let view {
            // A damaged object is in no view.
            guard let stored = document,
                view.contains(DocumentObject(key: key, stored, of: owner), owner.name)
            else { return }
            document = view.masked(stored, of: owner)
        }
        let bytes = document.map { form.bytes(of: $0, object) }
        let digest = bytes.flatMap { ObjectDigest(Self.hash($0)) } ?? .unreadable
        guard buckets != nil else { return self.digest.add(digest, in: bucket) }
        guard response.objects?.count ?? 0 < limits.listedObjects else {
            response.isTruncated = true
            return
        }
        let properties = document.map { form.properties(of: $0, owner.name) } ?? []
        let entry = DigestResponse.ObjectEntry(
            className: owner.name.description,
            key: Hexadecimal.text(of: keyBytes),
            digest: digest.text,
            properties: properties.map {
                Hexadecimal.text(of: Self.hash($0.bytes).prefix(8))
            }.joined()
        )
        listedSizeInBytes +=
            entry.className.utf8.count + entry.key.utf8.count
            + entry.properties.utf8.count + Self.entrySizeInBytes
        guard listedSizeInBytes <= Self.listSizeInBytes else {
            response.isTruncated = true
            return
        }
        response.objects?.append(entry)
    }

    /// Clients accept responses of 4 MiB; a digest and the names of members take 140 bytes.
    private static let listSizeInBytes = 3 << 20
    private static let entrySizeInBytes = 140

    private static func hash(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }
}
