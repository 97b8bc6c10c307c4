import JSON

extension JSONValue {
    /// The value in the form of profiles (app services, 7.1); nil for null.
    package var text: String? {
        switch self {
        case .null: nil
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .string(let value): value
        case .array, .object: (try? json()).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// Seconds since 1970, the unit of tokens.
    var seconds: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        case .null, .bool, .string, .array, .object: nil
        }
    }
}
