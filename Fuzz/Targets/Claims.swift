/// What every input must fulfil, and what one of them has broken.
struct Claims {
    private(set) var broken: [String] = []

    mutating func check(_ holds: Bool, _ claim: @autoclosure () -> String) {
        if !holds { broken.append(claim()) }
    }
}
