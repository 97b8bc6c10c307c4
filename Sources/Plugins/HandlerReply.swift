package import ClientReset
import FoundationEssentials
import Platform
package import Scheduling
import Settings

/// A handler's decision; the engine carries it out (interfaces, 7).
package enum HandlerDecision: Hashable, Sendable {
    /// The agent's default handling.
    case `continue`
    case retry(after: Duration?)
    /// Without `until` the realm stays suspended until an operator resumes it.
    case suspend(until: WallTime?)
    case relogin
    /// A reset in the given mode, or else the configured one.
    case reset(ResetMode?)
    /// A reset that discards unsynced changes.
    case discard
    /// Sync of this realm ends until it is restarted.
    case stop

    package static let words = [
        "continue", "retry", "suspend", "relogin", "reset", "discard", "stop",
    ]

    package var word: String {
        switch self {
        case .continue: "continue"
        case .retry: "retry"
        case .suspend: "suspend"
        case .relogin: "relogin"
        case .reset: "reset"
        case .discard: "discard"
        case .stop: "stop"
        }
    }
}

/// A handler's decision, with a sentence for people if it gave one.
package struct HandlerReply: Hashable, Sendable {
    package let decision: HandlerDecision
    package let note: String?

    package init(_ decision: HandlerDecision, note: String? = nil) {
        self.decision = decision
        self.note = note
    }

    /// Takes what happens without a word on it.
    package static let `continue` = HandlerReply(.continue)
}

// MARK: From JSON

extension HandlerReply {
    /// The longest pause that a handler may request; a longer one is an invalid answer.
    private static let longestPause = Duration.seconds(366 * 86_400)

    private struct Document: Decodable {
        let realm: String?
        let decision: String?
        let note: String?
        let after: String?
        let until: String?
        let mode: String?
    }

    /// Reads an answer: nothing, or one JSON object.
    ///
    /// It decides about the realm of the event and no other: one that names another is a mistake, and
    /// decides about neither.
    package init(
        answer bytes: [UInt8],
        to request: HandlerRequest
    ) throws(HandlerFailure) {
        guard !bytes.allSatisfy({ [0x20, 0x09, 0x0a, 0x0d].contains($0) }) else {
            self = .continue
            return
        }
        let document: Document
        do {
            document = try JSONDecoder().decode(Document.self, from: Data(bytes))
        } catch {
            throw .badAnswer("it is not one JSON object with strings as values")
        }
        if let realm = document.realm, realm != request.subject.realm {
            throw .badAnswer(
                "it names the realm \"\(realm.prefix(64))\", but the event is one of "
                    + "\"\(request.subject.realm)\""
            )
        }
        self.init(try Self.decision(document), note: document.note)
    }

    private static func decision(
        _ document: Document
    ) throws(HandlerFailure) -> HandlerDecision {
        switch document.decision ?? "continue" {
        case "continue": return .continue
        case "retry": return .retry(after: try pause(document.after))
        case "suspend": return .suspend(until: try instant(document.until))
        case "relogin": return .relogin
        case "reset": return .reset(try mode(document.mode))
        case "discard": return .discard
        case "stop": return .stop
        case let word:
            throw .badAnswer(
                "the decision \"\(word.prefix(40))\" is not one of "
                    + HandlerDecision.words.joined(separator: ", ")
            )
        }
    }

    private static func pause(_ text: String?) throws(HandlerFailure) -> Duration? {
        guard let text else { return nil }
        guard let duration = DurationText.parse(text), duration <= longestPause else {
            throw .badAnswer("\"after\" is not a duration such as 30s, 5m or 2h")
        }
        return duration
    }

    private static func instant(_ text: String?) throws(HandlerFailure) -> WallTime? {
        guard let text else { return nil }
        guard let instant = WallTime(iso8601: text) else {
            throw .badAnswer("\"until\" is not an instant such as 2026-11-20T22:30:00Z")
        }
        return instant
    }

    private static func mode(_ text: String?) throws(HandlerFailure) -> ResetMode? {
        guard let text else { return nil }
        guard let mode = ResetMode(rawValue: text) else {
            throw .badAnswer(
                "\"mode\" is not one of "
                    + ResetMode.allCases.map(\.rawValue).joined(separator: ", ")
            )
        }
        return mode
    }
}
