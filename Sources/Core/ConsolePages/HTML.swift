/// Markup. Its literals are markup, too; interpolated text is escaped, so that text of users can never
/// become markup.
package struct HTML: ExpressibleByStringInterpolation, Hashable, Sendable {
    package let markup: String

    package init(stringLiteral markup: String) { self.markup = markup }

    package init(stringInterpolation parts: Interpolation) { self.markup = parts.markup }

    package struct Interpolation: StringInterpolationProtocol {
        fileprivate var markup = ""

        package init(literalCapacity: Int, interpolationCount: Int) {
            markup.reserveCapacity(literalCapacity)
        }

        package mutating func appendLiteral(_ literal: String) { markup += literal }

        package mutating func appendInterpolation(_ text: String) {
            markup += HTML.escaped(text)
        }

        package mutating func appendInterpolation(_ number: some BinaryInteger) {
            markup += String(number)
        }

        package mutating func appendInterpolation(_ html: HTML) { markup += html.markup }

        package mutating func appendInterpolation(_ parts: [HTML]) {
            for part in parts { markup += part.markup }
        }

        package mutating func appendInterpolation(_ part: HTML?) {
            if let part { markup += part.markup }
        }
    }

    /// Text for elements and for attributes in quotes. Characters that are not visible, or that change
    /// the order of others, become visible: a name must not look like another one.
    static func escaped(_ text: String) -> String {
        var out = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": out += "&amp;"
            case "<": out += "&lt;"
            case ">": out += "&gt;"
            case "\"": out += "&quot;"
            case "'": out += "&#39;"
            case "\n", "\t": out.unicodeScalars.append(scalar)
            case _ where isDeceptive(scalar): out += "\u{FFFD}"
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out
    }

    private static func isDeceptive(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: true
        default: false
        }
    }
}
