/// The keys and indices that lead from the root of a document to a value.
package struct SettingPath: Hashable, Sendable {
    private let steps: [Step]

    private enum Step: Hashable {
        case key(String)
        case index(Int)
    }

    package static let root = SettingPath(steps: [])

    package var isRoot: Bool { steps.isEmpty }

    package func appending(_ key: String) -> SettingPath {
        SettingPath(steps: steps + [.key(key)])
    }

    package func appending(index: Int) -> SettingPath {
        SettingPath(steps: steps + [.index(index)])
    }
}

extension SettingPath: CustomStringConvertible {
    /// `realms.orders.subscriptions[0].name`; a key that could be misread stands in quotes.
    package var description: String {
        steps.reduce(into: "") { text, step in
            switch step {
            case .index(let index):
                text += "[\(index)]"
            case .key(let key):
                let isPlain = !key.isEmpty && key.utf8.allSatisfy(Self.isPlain)
                text += (text.isEmpty ? "" : ".") + (isPlain ? key : quoted(key))
            }
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), 0x80...:
            true
        default: false
        }
    }
}
