import YAML

extension NodeReader {
    /// The text as written, of any form.
    package func string(allowsEmpty: Bool = false) -> String? {
        guard let scalar = scalar(expected: "a string", form: .text) else { return nil }
        guard allowsEmpty || !scalar.text.isEmpty else {
            report(.badValue, "is an empty string", remedy: "give at least one character")
            return nil
        }
        return scalar.text
    }

    /// A string that meets a condition, which `expected` describes: "the name of a unit".
    package func string(matching isGood: (String) -> Bool, expected: String) -> String? {
        guard let text = string() else { return nil }
        guard isGood(text) else {
            report(.badValue, "\(quoted(text)) is malformed", remedy: "give \(expected)")
            return nil
        }
        return text
    }

    /// `true` or `false`, without quotes.
    package func bool() -> Bool? {
        guard let scalar = scalar(expected: "true or false", form: .boolean) else { return nil }
        switch (isLiteral(scalar), scalar.text) {
        case (true, "true"), (true, "True"), (true, "TRUE"): return true
        case (true, "false"), (true, "False"), (true, "FALSE"): return false
        case (false, "true"), (false, "false"):
            report(.wrongType, "found a string", remedy: "remove the quotes")
        default:
            report(.wrongType, "found \(quoted(scalar.text))", remedy: "give true or false")
        }
        return nil
    }

    package func integer(in range: ClosedRange<Int> = Int.min...Int.max) -> Int? {
        guard let scalar = scalar(expected: "a whole number", form: .integer(range)) else {
            return nil
        }
        guard isLiteral(scalar), let value = Int(scalar.text) else {
            reportWrongType(expected: "a whole number")
            return nil
        }
        return check(value, in: range) { "\($0)" }
    }

    package func number(in range: ClosedRange<Double>) -> Double? {
        guard let scalar = scalar(expected: "a number", form: .number(range)) else { return nil }
        guard isLiteral(scalar), Self.isDecimal(scalar.text), let value = Double(scalar.text),
            value.isFinite
        else {
            reportWrongType(expected: "a number")
            return nil
        }
        return check(value, in: range) { text(of: $0) }
    }

    /// `20ms`, `30s`, `5m`, `2h`, `7d`, or a sum such as `1h30m`.
    package func duration(in range: ClosedRange<Duration>) -> Duration? {
        let expected = "a duration such as 500ms, 30s, 5m, 2h or 7d"
        guard let scalar = scalar(expected: expected, form: .pattern(DurationText.pattern)) else {
            return nil
        }
        guard let value = DurationText.parse(scalar.text) else {
            let hasUnit = Int(scalar.text) == nil
            report(
                .badValue,
                hasUnit
                    ? "\(quoted(scalar.text)) is not a duration" : "\(scalar.text) has no unit",
                remedy: "give \(expected)"
            )
            return nil
        }
        return check(value, in: range, text: DurationText.text)
    }

    /// In bytes: `512`, `64KiB`, `10MiB`.
    package func size(in range: ClosedRange<Int>) -> Int? {
        let expected = "a size such as 64KiB or 10MiB"
        guard let scalar = scalar(expected: expected, form: .text) else { return nil }
        guard let value = SizeText.parse(scalar.text) else {
            report(
                .badValue,
                "\(quoted(scalar.text)) is not a size",
                remedy: "give \(expected)"
            )
            return nil
        }
        return check(value, in: range, text: SizeText.text)
    }

    /// A value of an enumeration; `later` are those of the documented configuration that this
    /// version does not support yet.
    package func choice<Choice: CaseIterable & RawRepresentable<String>>(
        of type: Choice.Type = Choice.self,
        later: [String] = []
    ) -> Choice? {
        let words = Choice.allCases.map(\.rawValue)
        guard let scalar = scalar(expected: Suggestion.list(words), form: .choice(words)) else {
            return nil
        }
        if let choice = Choice(rawValue: scalar.text) { return choice }
        if later.contains(scalar.text) {
            report(
                .unsupported,
                "\(quoted(scalar.text)) is not supported yet by this version",
                remedy: "use \(Suggestion.list(words))"
            )
        } else {
            report(
                .badValue,
                "\(quoted(scalar.text)) is not one of the choices",
                remedy: Suggestion.remedy(for: scalar.text, among: words)
            )
        }
        return nil
    }

    /// A percentage such as `20%`; returns a fraction of 1.
    package func percentage(in range: ClosedRange<Double>) -> Double? {
        let expected = "a percentage such as 20%"
        let pattern = "^[0-9]+(\\.[0-9]+)?%$"
        guard let scalar = scalar(expected: expected, form: .pattern(pattern)) else { return nil }
        guard scalar.text.hasSuffix("%"), scalar.text.utf8.first?.isASCIIDigit == true,
            Self.isDecimal(String(scalar.text.dropLast())),
            let value = Double(scalar.text.dropLast())
        else {
            report(
                .badValue,
                "\(quoted(scalar.text)) is not a percentage",
                remedy: "give \(expected)"
            )
            return nil
        }
        let percents = range.lowerBound * 100...range.upperBound * 100
        return check(value, in: percents) { "\(text(of: $0))%" }.map { $0 / 100 }
    }

    /// A count per time span: `3 in 5m`, where the word between is `word`.
    package func rate(
        word: String,
        counts: ClosedRange<Int>,
        periods: ClosedRange<Duration>
    ) -> (count: Int, period: Duration)? {
        let expected = "a rate such as 3 \(word) 5m"
        let pattern = "^[0-9]+ \(word) \(DurationText.pattern.dropFirst())"
        guard let scalar = scalar(expected: expected, form: .pattern(pattern)) else { return nil }
        let words = scalar.text.split(separator: " ")
        guard words.count == 3, words[1] == word, let count = Int(words[0]),
            let period = DurationText.parse(words[2])
        else {
            report(
                .badValue,
                "\(quoted(scalar.text)) is not a rate",
                remedy: "give \(expected)"
            )
            return nil
        }
        guard let count = check(count, in: counts, text: { "\($0)" }),
            let period = check(period, in: periods, text: DurationText.text)
        else { return nil }
        return (count, period)
    }

    /// A list of strings, none of them empty.
    package func strings() -> [String]? {
        elements { $0.string() }
    }

    /// A path from the root of the file system, without superfluous slashes and dots.
    package func absolutePath() -> String? {
        string().flatMap(absolutePath)
    }

    /// The same for a text that was derived from the value.
    package func absolutePath(of text: String) -> String? {
        let components = text.utf8.split(separator: UInt8(ascii: "/")).filter {
            !$0.elementsEqual(".".utf8)
        }
        guard text.utf8.first == UInt8(ascii: "/"),
            !components.contains(where: { $0.elementsEqual("..".utf8) }),
            !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else {
            report(
                .badValue,
                "\(quoted(text)) is not an absolute path",
                remedy: "give a path that begins with \"/\" and has no \"..\" in it"
            )
            return nil
        }
        return "/" + components.map { String(Substring($0)) }.joined(separator: "/")
    }

    // MARK: Shared rules

    /// Whether a YAML reader may read a scalar as something else than text.
    private func isLiteral(_ scalar: YAMLScalar) -> Bool {
        switch node.tag {
        case .integer, .float, .boolean: true
        case nil: scalar.style == .plain
        default: false
        }
    }

    private func check<Value: Comparable>(
        _ value: Value,
        in range: ClosedRange<Value>,
        text: (Value) -> String
    ) -> Value? {
        guard range.contains(value) else {
            report(
                .badValue,
                "\(text(value)) is out of range",
                remedy: "give a value from \(text(range.lowerBound)) to \(text(range.upperBound))"
            )
            return nil
        }
        return value
    }

    private static func isDecimal(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0.isASCIIDigit || $0.isOne(of: ".+-eE") }
    }

    /// Whole numbers without a fraction, as people write them.
    private func text(of number: Double) -> String {
        Int(exactly: number).map(String.init) ?? "\(number)"
    }
}
