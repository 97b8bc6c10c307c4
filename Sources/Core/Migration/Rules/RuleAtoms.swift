/// Translates the comparisons of one language of rules for `RuleTranslator`.
protocol RuleAtoms {
    /// The code for a comparison that the language cannot say.
    static var unsupportedCode: String { get }
}

extension RuleAtoms {
    static var unsupportedCode: String { "import.rule_unsupported" }

    func impossible(
        _ problem: String,
        _ path: String,
        code: String = Self.unsupportedCode
    ) -> RuleTranslator.Atom {
        (
            TranslatedRule(logic: .constant(false), quality: .impossible),
            RuleTranslator.Reason(code: code, problem: problem, path: path)
        )
    }

    func never(_ path: String) -> RuleTranslator.Atom {
        (
            .never,
            RuleTranslator.Reason(
                code: "import.rule_never_true",
                problem: "the two values have different types and were never equal",
                path: path,
                isExact: true
            )
        )
    }
}
