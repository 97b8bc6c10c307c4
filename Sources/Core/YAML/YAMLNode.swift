/// A value of a YAML document with its location.
///
/// Text stays text: the reader of its key decides what a scalar means, so `no`, `1e3` and `007` are
/// never turned into something their author did not mean.
package struct YAMLNode: Hashable, Sendable {
    /// For a node behind an alias: the location of the anchored original.
    package let location: TextLocation
    package let tag: YAMLTag?
    package let content: Content

    package init(location: TextLocation, tag: YAMLTag? = nil, content: Content) {
        self.location = location
        self.tag = tag
        self.content = content
    }

    package enum Content: Hashable, Sendable {
        case scalar(YAMLScalar)
        case sequence([YAMLNode])
        case mapping(YAMLMapping)
    }
}

/// The text of a scalar, and how it was written.
package struct YAMLScalar: Hashable, Sendable {
    package let text: String
    package let style: Style

    package init(_ text: String, style: Style = .plain) {
        self.text = text
        self.style = style
    }

    package enum Style: Hashable, Sendable {
        case plain, singleQuoted, doubleQuoted, literal, folded
    }
}

/// Keys and values in the order of the text, each key once.
package struct YAMLMapping: Hashable, Sendable {
    package var entries: [Entry]
    /// Repeated keys of the mapping; the first value of each is the one in `entries`.
    package var duplicates: [Duplicate]

    package init(entries: [Entry] = [], duplicates: [Duplicate] = []) {
        self.entries = entries
        self.duplicates = duplicates
    }

    package subscript(key: String) -> Entry? {
        entries.first { $0.key == key }
    }

    package struct Entry: Hashable, Sendable {
        package let key: String
        package let keyLocation: TextLocation
        package var value: YAMLNode

        package init(key: String, keyLocation: TextLocation, value: YAMLNode) {
            self.key = key
            self.keyLocation = keyLocation
            self.value = value
        }
    }

    package struct Duplicate: Hashable, Sendable {
        package let key: String
        package let location: TextLocation
        package let first: TextLocation

        package init(key: String, location: TextLocation, first: TextLocation) {
            self.key = key
            self.location = location
            self.first = first
        }
    }
}

/// An explicit tag; the parser accepts only those of the core schema.
package enum YAMLTag: String, Hashable, Sendable {
    case string = "tag:yaml.org,2002:str"
    case integer = "tag:yaml.org,2002:int"
    case float = "tag:yaml.org,2002:float"
    case boolean = "tag:yaml.org,2002:bool"
    case null = "tag:yaml.org,2002:null"
    case sequence = "tag:yaml.org,2002:seq"
    case mapping = "tag:yaml.org,2002:map"
    /// `!`: not to be resolved, so a scalar is a string.
    case nonSpecific = "!"
}

extension YAMLNode {
    /// Whether the node is null: an empty plain scalar, `~`, or `null`.
    package var isNull: Bool {
        guard case .scalar(let scalar) = content else { return false }
        switch tag {
        case .null: return true
        case nil: return scalar.style == .plain && Self.nullTexts.contains(scalar.text)
        default: return false
        }
    }

    private static let nullTexts: Set<String> = ["", "~", "null", "Null", "NULL"]
}
