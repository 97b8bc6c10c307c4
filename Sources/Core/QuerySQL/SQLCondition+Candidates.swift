package import Query

extension SQLCondition {
    /// True for every object that matches one of the queries, and perhaps for others. Nil if they have
    /// more constants than a statement may.
    package init?(
        candidatesOfAny queries: [CheckedQuery],
        _ dialect: SQLDialect,
        firstParameter: Int,
        mostParameters: Int = 30_000
    ) {
        var texts: [String] = []
        var parameters: [SQLParameter] = []
        for query in queries {
            let candidates = TranslatedQuery(
                query,
                dialect,
                firstParameter: firstParameter + parameters.count
            ).candidates
            guard parameters.count + candidates.parameters.count <= mostParameters else {
                return nil
            }
            texts.append("(\(candidates.text))")
            parameters += candidates.parameters
        }
        self.init(text: texts.joined(separator: " OR "), parameters: parameters)
    }
}
