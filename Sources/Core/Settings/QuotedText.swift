/// Text of outside origin for a message: in quotes, on one line, not too long.
package func quoted(_ text: some StringProtocol) -> String {
    let limit = 60
    var shown = "\""
    for (position, scalar) in text.unicodeScalars.enumerated() {
        guard position < limit else {
            shown += "…"
            break
        }
        switch scalar {
        case "\"": shown += "\\\""
        case "\\": shown += "\\\\"
        case "\n": shown += "\\n"
        case "\t": shown += "\\t"
        default:
            // Control and format characters could rewrite the terminal that shows the message.
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator:
                shown += "\\u{\(String(scalar.value, radix: 16))}"
            default:
                shown.unicodeScalars.append(scalar)
            }
        }
    }
    return shown + "\""
}
