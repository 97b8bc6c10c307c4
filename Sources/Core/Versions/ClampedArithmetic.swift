/// Saturating arithmetic for numbers from a file or a peer: if the exact result does not fit, it is
/// the nearest bound. Trapping would let one number end the process, and a number in a file would
/// do so again at every start.
extension FixedWidthInteger {
    package func adding(clamping other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        guard overflow else { return sum }
        return other < 0 ? .min : .max
    }

    package func subtracting(clamping other: Self) -> Self {
        let (difference, overflow) = subtractingReportingOverflow(other)
        guard overflow else { return difference }
        return Self.isSigned && other < 0 ? .max : .min
    }

    package func multiplied(clamping other: Self) -> Self {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        guard overflow else { return product }
        return (self < 0) == (other < 0) ? .max : .min
    }
}
