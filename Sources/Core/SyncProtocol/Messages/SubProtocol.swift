/// The two modes of sync of a connection (wire protocol, 1).
package enum SyncMode: String, Hashable, Sendable, CaseIterable {
    /// A realm is a partition of the app's data.
    case partitionBased = "com.mongodb.realm-sync"
    /// A realm is a view of the app's data through a query.
    case flexible = "com.mongodb.realm-query-sync"

    /// Names the mode in sub-protocol tokens.
    package var prefix: String { rawValue }
}

extension SyncMode: CustomStringConvertible {
    package var description: String {
        switch self {
        case .partitionBased: "partition-based"
        case .flexible: "flexible"
        }
    }
}

/// The protocol that both ends of a connection agreed on: a mode and a version (wire protocol, 2.3).
package struct SubProtocol: Hashable, Sendable {
    package let mode: SyncMode
    package let version: Int
    /// Written with "/" in place of "#", as clients below version 8 did.
    private let hasLegacyToken: Bool

    package init(mode: SyncMode, version: Int) {
        self.init(mode: mode, version: version, hasLegacyToken: false)
    }

    private init(mode: SyncMode, version: Int, hasLegacyToken: Bool) {
        self.mode = mode
        self.version = version
        self.hasLegacyToken = hasLegacyToken
    }

    /// The versions of our client.
    package static let clientVersions = 2...14
    /// The versions of our server: it reports errors only in JSON, which clients support from 4 on.
    package static let serverVersions = 4...14
    private static let lastVersionWithLegacyToken = 7

    /// The value of the header `Sec-WebSocket-Protocol` in a server's response.
    package var token: String {
        "\(mode.prefix)\(hasLegacyToken ? "/" : "#")\(version)"
    }
}

// MARK: The client's end

extension SubProtocol {
    /// The value of the request's header: each version we support, highest first.
    package static func offer(for mode: SyncMode) -> String {
        clientVersions.reversed().map { "\(mode.prefix)#\($0)" }.joined(separator: ", ")
    }

    /// Reads the server's response; anything but one expected token is fatal.
    package init(answer: String?, for mode: SyncMode) throws(SubProtocolError) {
        guard let answer else { throw .missingAnswer }
        guard let token = Token(answer), token.mode == mode, token.versions.count == 1,
            Self.clientVersions ~= token.versions.lowerBound
        else { throw .unexpectedAnswer(answer) }
        self.init(mode: mode, version: token.versions.lowerBound)
    }
}

// MARK: The server's end

extension SubProtocol {
    /// Chooses the highest version that both ends support, in the mode of the first known token.
    ///
    /// - Parameter offers: every value of the request's header, each a list of tokens.
    package init(
        choosingFrom offers: [String],
        supported: ClosedRange<Int> = serverVersions
    ) throws(SubProtocolError) {
        var tokens: [Token] = []
        for offer in offers.flatMap({ $0.split(separator: ",") }) {
            let text = offer.trimmingBlanks()
            guard Token.isKnown(text) else { continue }
            guard let token = Token(text) else { throw .malformedOffer(String(text.prefix(128))) }
            tokens.append(token)
        }
        guard let mode = tokens.first?.mode else { throw .nothingOffered }
        var best: SubProtocol?
        for token in tokens where token.mode == mode && token.versions.overlaps(supported) {
            let version = token.versions.clamped(to: supported).upperBound
            guard version > best?.version ?? 0 else { continue }
            let hasLegacyToken = token.isLegacy && version <= Self.lastVersionWithLegacyToken
            best = SubProtocol(mode: mode, version: version, hasLegacyToken: hasLegacyToken)
        }
        guard let best else { throw .noCommonVersion(supported) }
        self = best
    }
}

/// The two ends have no protocol in common.
package enum SubProtocolError: Error, Hashable, Sendable {
    case missingAnswer
    case unexpectedAnswer(String)
    case nothingOffered
    case malformedOffer(String)
    case noCommonVersion(ClosedRange<Int>)
}

extension SubProtocolError: CustomStringConvertible {
    /// Also the body of a server's 400 response.
    package var description: String {
        switch self {
        case .missingAnswer: "the server named no sub-protocol"
        case .unexpectedAnswer(let answer):
            "the server answered with the sub-protocol \"\(answer.prefix(128))\", which was not offered"
        case .nothingOffered: "the request offers no sync protocol"
        case .malformedOffer(let token): "malformed sub-protocol \"\(token)\""
        case .noCommonVersion(let range):
            "no common protocol version; supported: \(range.lowerBound) to \(range.upperBound)"
        }
    }
}

/// One member of an offer: a prefix, a separator, and a version or a range of versions.
private struct Token {
    let mode: SyncMode
    let versions: ClosedRange<Int>
    let isLegacy: Bool

    static func isKnown(_ text: some StringProtocol) -> Bool {
        parts(of: text) != nil
    }

    init?(_ text: some StringProtocol) {
        guard let (mode, separator, versions) = Self.parts(of: text) else { return nil }
        let bounds = versions.split(separator: "-", omittingEmptySubsequences: false)
        let numbers = bounds.compactMap(Self.number)
        guard numbers.count == bounds.count, let first = numbers.first, numbers.count <= 2,
            let last = numbers.last, first <= last
        else { return nil }
        self.mode = mode
        self.versions = first...last
        self.isLegacy = separator == "/"
    }

    private static func parts(
        of text: some StringProtocol
    ) -> (mode: SyncMode, separator: Character, versions: Substring)? {
        for mode in SyncMode.allCases {
            let rest = text.dropFirst(mode.prefix.count)
            guard text.hasPrefix(mode.prefix), let separator = rest.first else { continue }
            if separator == "#" || separator == "/" {
                return (mode, separator, Substring(rest.dropFirst()))
            }
        }
        return nil
    }

    /// Digits only: `Int.init` would also take a sign.
    private static func number(_ text: Substring) -> Int? {
        guard text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else {
            return nil
        }
        return Int(text)
    }
}

extension StringProtocol {
    fileprivate func trimmingBlanks() -> SubSequence {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        let start = drop(while: isBlank)
        guard let end = start.lastIndex(where: { !isBlank($0) }) else { return start }
        return start[...end]
    }
}
