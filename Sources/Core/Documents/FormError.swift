package import Changesets

/// A stored or received value does not have the form of its type (local realm, 2).
///
/// The value itself is left out: the code that reports the error decides whether it may be shown.
package struct FormError: Error, Hashable, Sendable {
    package let problem: Problem
    /// The path from the property to the invalid value; empty for the property itself.
    package private(set) var path: [Step]

    package init(_ problem: Problem, at path: [Step] = []) {
        self.problem = problem
        self.path = path
    }

    package enum Step: Hashable, Sendable {
        case index(Int)
        /// A dictionary key, or the name of a property of an embedded object.
        case key(Text)
    }

    package enum Problem: Hashable, Sendable {
        case null
        case expected(ValueForm)
        case stringTooLong(sizeInBytes: Int)
        case binaryTooLong(sizeInBytes: Int)
        /// More than the 34 digits of a decimal128.
        case decimalTooPrecise
        case decimalOutOfRange
        case invalidJSON(JSONProblem, offset: Int)
        case unknownProperty(Text)
        case unknownClass(Text)
        /// An unknown member of Extended JSON that starts with `$`.
        case unknownTag(Text)
        case illegalKey(Text)
        /// A link to an object that does not exist, where links need a target.
        case missingTarget(Text)
        case collectionInSet
        case nestedTooDeeply
    }

    /// The same error, as seen from one level further out.
    func inside(_ step: Step) -> FormError {
        FormError(problem, at: [step] + path)
    }
}

/// An error in a text that should be JSON.
package enum JSONProblem: Hashable, Sendable {
    case truncated
    case unexpectedByte
    case trailingBytes
    case badNumber
    case badEscape
    case unpairedSurrogate
    case controlCharacter
    case invalidUTF8
    case nestedTooDeeply
}

/// The required forms of values, in words for people.
package enum ValueForm: Hashable, Sendable {
    case integer
    case bool
    case text
    case blob
    case timestamp
    case number
    case decimal
    case objectID
    case uuid
    case globalKey
    case key
    case link(Text)
    case json
    case jsonArray
    case jsonObject
    case jsonBool
    case jsonNumber
    case base64
    case binarySubtype
    case taggedValue
    case taggedLink
}

extension FormError: CustomStringConvertible {
    /// A sentence without its subject: "must be a timestamp …", "[3] must not be null".
    package var description: String {
        path.isEmpty ? problem.description : "\(location) \(problem)"
    }

    /// The path in readable form: `lines[2].zip`.
    package var location: String {
        var text = ""
        for step in path {
            switch step {
            case .index(let index): text += "[\(index)]"
            case .key(let key): text += text.isEmpty ? "\(key)" : ".\(key)"
            }
        }
        return text
    }
}

extension FormError.Problem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .null:
            "must not be null"
        case .expected(let form):
            "must be \(form)"
        case .stringTooLong(let size):
            "has \(size) bytes; a string has at most \(FormatLimits.stringSizeInBytes)"
        case .binaryTooLong(let size):
            "has \(size) bytes; a binary has at most \(FormatLimits.binarySizeInBytes)"
        case .decimalTooPrecise:
            "has more than the 34 digits that a decimal can hold"
        case .decimalOutOfRange:
            "is outside the range of decimals (exponents -6176 to 6111)"
        case .invalidJSON(let problem, let offset):
            "is not JSON at byte \(offset): \(problem)"
        case .unknownProperty(let name):
            "must not have a member \(name): the class has no such property"
        case .unknownClass(let name):
            "must not refer to class \(name), which has no objects of its own here"
        case .unknownTag(let tag):
            "must not use \(tag), which is not known"
        case .illegalKey(let key):
            "must not have the key \(key)"
        case .missingTarget(let className):
            "must link to an object of \(className) that exists"
        case .collectionInSet:
            "must not hold collections, because it is a set"
        case .nestedTooDeeply:
            "must not nest collections more than \(FormatLimits.nestingDepth) levels deep"
        }
    }
}

extension JSONProblem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .truncated: "the text ends early"
        case .unexpectedByte: "this is not allowed here"
        case .trailingBytes: "the value has ended before"
        case .badNumber: "a digit is missing"
        case .badEscape: "unknown escape sequence"
        case .unpairedSurrogate: "half of a surrogate pair"
        case .controlCharacter: "a control character must be escaped"
        case .invalidUTF8: "a string that is not UTF-8"
        case .nestedTooDeeply: "nested too deeply"
        }
    }
}

extension ValueForm: CustomStringConvertible {
    package var description: String {
        switch self {
        case .integer: "an integer"
        case .bool: "0 or 1"
        case .text: "text"
        case .blob: "a blob"
        case .timestamp: "a timestamp such as 2026-03-04T05:06:07Z"
        case .number: "a number, or the text NaN"
        case .decimal: "a decimal number as text, such as '12.50'"
        case .objectID: "24 lower-case hexadecimal digits"
        case .uuid: "a UUID in lower case, such as '3b241101-e2bb-4255-8caf-4136c566a962'"
        case .globalKey: "two numbers joined by a colon, such as '2:17'"
        case .key: "a primary key"
        case .link(let className): "the primary key of an object of \(className)"
        case .json: "Extended JSON as text"
        case .jsonArray: "a JSON array"
        case .jsonObject: "a JSON object"
        case .jsonBool: "true or false"
        case .jsonNumber: #"a number, or one by name such as {"$numberDouble":"NaN"}"#
        case .base64: "base64 text"
        case .binarySubtype: #"of subType "00", or "04" for a UUID"#
        case .taggedValue: "a value of Extended JSON"
        case .taggedLink: #"a link such as {"class":"Person","key":1}"#
        }
    }
}
