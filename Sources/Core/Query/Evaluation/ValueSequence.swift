/// The values of one side of a comparison for one object.
struct ValueSequence {
    /// Empty if an element of an empty list is requested.
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
