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
    /// `realms.orders.subscriptions[0].name`; a key that could be misread is quoted.
    package var description: String {
        steps.reduce(into: "") { text, step in
            switch step {
            case .index(let index):
                text += "[\(index)]"
            case .key(let key):
                text += (text.isEmpty ? "" : ".") + Self.shown(key)
            }
        }
    }

    private static func shown(_ key: String) -> String {
        let quoted = quoted(key)
        let isHarmless = !key.isEmpty && quoted.dropFirst().dropLast() == key
        return isHarmless && key.utf8.allSatisfy(isPlain) ? key : quoted
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte.isASCIILetter || byte.isASCIIDigit || byte.isOne(of: "_-") || byte >= 0x80
    }
}
