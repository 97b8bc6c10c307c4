import Changesets
import SchemaFiles
import Schemas
import Settings
import TestSupport
import Testing

@Suite("Schema files of random schemas")
struct SchemaFilePropertyTests {
    @Test("A printed schema reads back the same")
    func roundTrip() {
        for seed in UInt64(0)..<150 {
            var random = SplitMix64(seed: seed)
            let declaration = Self.declaration(using: &random)
            let text = SchemaFile.text(of: declaration)
            let (read, diagnostics) = parse(text)
            #expect(read == declaration, "seed \(seed): \(diagnostics) in\n\(text)")
            let json = SchemaFile.json(of: declaration)
            let (readJSON, mistakes) = parse(json)
            #expect(readJSON == declaration, "seed \(seed): \(mistakes) in\n\(json)")
        }
    }

    @Test("Damaged files give a declaration or a diagnostic, never a trap")
    func damage() {
        for seed in UInt64(0)..<400 {
            var random = SplitMix64(seed: seed)
            let declaration = Self.declaration(using: &random)
            var bytes = Array(SchemaFile.text(of: declaration).utf8)
            for _ in 0..<3 {
                let position = Int.random(in: 0..<bytes.count, using: &random)
                let sign = Array("<>?:,{}[]\n -_x".utf8).randomElement(using: &random) ?? 0
                if Bool.random(using: &random) {
                    bytes[position] = sign
                } else {
                    bytes.insert(sign, at: position)
                }
            }
            let (read, diagnostics) = SchemaFile.parse(bytes, file: "s.yaml")
            #expect(
                (read == nil) == diagnostics.contains { $0.severity == .error },
                "seed \(seed)"
            )
        }
    }

    private static let scalars: [PropertyType] = [
        .int, .bool, .string, .binary, .timestamp, .float, .double, .decimal, .objectID, .uuid,
    ]

    private static func declaration(using random: inout SplitMix64) -> SchemaDeclaration {
        var declaration = SchemaDeclaration(schema: RealmSchema())
        let names = (0..<Int.random(in: 1...5, using: &random)).map { Text("Class\($0)") }
        let kinds = names.map { _ in
            let key = PrimaryKeySchema(
                name: "_id",
                type: [.int, .string, .objectID, .uuid].randomElement(using: &random) ?? .int,
                isNullable: Bool.random(using: &random)
            )
            let kinds: [ClassSchema.Kind] = [
                .topLevel(key), .topLevel(key), .embedded, .asymmetric(key),
            ]
            return kinds.randomElement(using: &random) ?? .embedded
        }
        let targets = zip(names, kinds).filter {
            if case .asymmetric = $0.1 { false } else { true }
        }
        for (name, kind) in zip(names, kinds) {
            var properties: [PropertySchema] = []
            for index in 0..<Int.random(in: 0...6, using: &random) {
                let property = property(
                    named: Text("property \(index)"),
                    targets: targets,
                    using: &random
                )
                properties.append(property)
                var options = PropertyOptions()
                if property.type == .int, property.collection == .single {
                    options.isCounter = Bool.random(using: &random)
                    options.defaultValue = .int(Int64(truncatingIfNeeded: random.next()))
                }
                if property.type == .double, property.collection == .single {
                    options.defaultValue = .double(DoubleBits(bitPattern: random.next()))
                }
                if options != PropertyOptions() {
                    declaration.options[.init(className: name, property: property.name)] = options
                }
            }
            declaration.schema.update(ClassSchema(name: name, kind: kind, properties: properties))
        }
        return declaration
    }

    private static func property(
        named name: Text,
        targets: [(Text, ClassSchema.Kind)],
        using random: inout SplitMix64
    ) -> PropertySchema {
        let collections: [CollectionType] = [.single, .single, .list, .set, .dictionary]
        let collection = collections.randomElement(using: &random) ?? .single
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            guard let (target, kind) = targets.randomElement(using: &random),
                kind != .embedded || collection != .set
            else { break }
            return PropertySchema(
                name: name,
                type: .link(target: target),
                isNullable: collection == .single || collection == .dictionary,
                collection: collection
            )
        case 1:
            return PropertySchema(
                name: name,
                type: .mixed,
                isNullable: true,
                collection: collection
            )
        default: break
        }
        return PropertySchema(
            name: name,
            type: scalars.randomElement(using: &random) ?? .int,
            isNullable: Bool.random(using: &random),
            collection: collection
        )
    }
}
