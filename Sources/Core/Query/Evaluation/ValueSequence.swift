/// What one side of a comparison is for one object.
struct ValueSequence {
    /// Nothing at all if an element of an empty list is asked for.
    var values: [QueryValue]
    /// Whether the values are those of a list, to which ANY, ALL and NONE apply.
    var isList: Bool

    init(_ value: QueryValue) {
        self.values = [value]
        self.isList = false
    }

    init(_ values: [QueryValue], isList: Bool) {
        self.values = values
        self.isList = isList
    }
}
