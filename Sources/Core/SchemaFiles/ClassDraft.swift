import Changesets
import Documents
import Schemas
import Settings
import YAML

/// A class as spelled in the file, before other classes are checked.
struct ClassDraft {
    let name: String
    let reader: NodeReader
    let isEmbedded: Bool
    let isAsymmetric: Bool
    let primaryKey: (name: String, reader: NodeReader)?
    let properties: [PropertyDraft]

    static func read(_ entry: NodeReader.Entry) -> ClassDraft {
        entry.checkName(of: "class", limitInBytes: FormatLimits.classNameSizeInBytes)
        let draft = entry.value.mapping { keys in
            ClassDraft(
                name: entry.name,
                reader: entry.value,
                isEmbedded: keys.optional("embedded", default: false) { $0.bool() },
                isAsymmetric: keys.optional("asymmetric", default: false) { $0.bool() },
                primaryKey: keys.optional("primary_key") { reader in
                    reader.string().map { ($0, reader) }
                },
                properties: keys.required("properties") { properties in
                    properties.entries(PropertyDraft.read).compactMap { $0 }
                } ?? []
            )
        }
        return draft
            ?? ClassDraft(
                name: entry.name,
                reader: entry.value,
                isEmbedded: false,
                isAsymmetric: false,
                primaryKey: nil,
                properties: []
            )
    }
}

/// A property as spelled in the file.
struct PropertyDraft {
    let name: String
    let type: PropertyTypeText
    let options: PropertyOptions
    /// The position of its type.
    let reader: NodeReader

    /// Nil, and reported, if the type is invalid.
    static func read(_ entry: NodeReader.Entry) -> PropertyDraft? {
        entry.checkName(of: "property", limitInBytes: FormatLimits.propertyNameSizeInBytes)
        return entry.value.either(
            scalar: { reader in
                readType(reader).map { type in
                    PropertyDraft(
                        name: entry.name,
                        type: type,
                        options: PropertyOptions(),
                        reader: reader
                    )
                }
            },
            collection: { readMapping($0, name: entry.name) }
        )
    }

    private static func readMapping(_ reader: NodeReader, name: String) -> PropertyDraft? {
        reader.mapping { keys in
            var typeReader = reader
            let type = keys.required("type") { reader in
                typeReader = reader
                return readType(reader)
            }
            let isCounter = keys.optional("counter", default: false) { reader in
                readCounter(reader, of: type)
            }
            let defaultValue = keys.optional("default") { reader in
                type.flatMap { DefaultValue.read(reader, of: $0) }
            }
            return type.map {
                PropertyDraft(
                    name: name,
                    type: $0,
                    options: PropertyOptions(isCounter: isCounter, defaultValue: defaultValue),
                    reader: typeReader
                )
            }
        }
    }

    private static func readType(_ reader: NodeReader) -> PropertyTypeText? {
        guard let text = reader.string() else { return nil }
        do {
            return try PropertyTypeText(text)
        } catch {
            reader.report(.badType, "\(quoted(text)): \(error.problem)", remedy: error.remedy)
            return nil
        }
    }

    private static func readCounter(_ reader: NodeReader, of type: PropertyTypeText?) -> Bool? {
        guard let isCounter = reader.bool() else { return nil }
        if isCounter, let type, type.type != .int || type.collection != .single {
            reader.report(
                .badCounter,
                "\(type) cannot be a counter",
                remedy: "make the property an int, or remove \"counter\""
            )
        }
        return isCounter
    }
}

extension NodeReader.Entry {
    fileprivate func checkName(of what: String, limitInBytes: Int) {
        let problem: String
        let remedy: String
        if name.isEmpty {
            problem = "the name of a \(what) is empty"
            remedy = "give it a name"
        } else if name.utf8.count > limitInBytes {
            problem = "the name of a \(what) has \(name.utf8.count) bytes"
            remedy = "use at most \(limitInBytes)"
        } else if name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        {
            problem = "the name of a \(what) has control characters"
            remedy = "remove them"
        } else {
            return
        }
        value.diagnostics.report(
            Diagnostic(at: nameLocation, .badName, value.path, problem, remedy: remedy)
        )
    }
}
