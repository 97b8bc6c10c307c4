/// An event in its place: one line of `GET /v1/events`.
///
/// Numbers grow by one from event to event, and from one run of the agent to the next by more: a
/// position of an earlier run is old, never wrong.
package struct EventRecord: Sendable, Equatable {
    package let sequence: UInt64
    /// ISO 8601, UTC.
    package let at: String
    package let event: AgentEvent

    package init(sequence: UInt64, at: String, event: AgentEvent) {
        self.sequence = sequence
        self.at = at
        self.event = event
    }
}

extension EventRecord: Codable {
    private enum CodingKeys: CodingKey {
        case sequence, at, realm, event
    }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(sequence, forKey: .sequence)
        try members.encode(at, forKey: .at)
        try members.encodeIfPresent(event.realm, forKey: .realm)
        try members.encode(event.payload.kind, forKey: .event)
        switch event.payload {
        case .state(let payload): try payload.encode(to: encoder)
        case .error(let payload): try payload.encode(to: encoder)
        case .rejected(let payload): try payload.encode(to: encoder)
        case .reset(let payload): try payload.encode(to: encoder)
        case .subscription(let payload): try payload.encode(to: encoder)
        case .changed(let payload): try payload.encode(to: encoder)
        case .plugin(let payload): try payload.encode(to: encoder)
        case .user(let payload): try payload.encode(to: encoder)
        case .reloaded(let payload): try payload.encode(to: encoder)
        case .gap: break
        }
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        let payload: EventPayload =
            switch try members.decode(EventPayload.Kind.self, forKey: .event) {
            case .state: .state(try StatePayload(from: decoder))
            case .error: .error(try ErrorPayload(from: decoder))
            case .rejected: .rejected(try RejectedPayload(from: decoder))
            case .reset: .reset(try ResetPayload(from: decoder))
            case .subscription: .subscription(try SubscriptionPayload(from: decoder))
            case .changed: .changed(try ChangePayload(from: decoder))
            case .plugin: .plugin(try PluginPayload(from: decoder))
            case .user: .user(try UserPayload(from: decoder))
            case .reloaded: .reloaded(try ReloadPayload(from: decoder))
            case .gap: .gap
            }
        self.init(
            sequence: try members.decode(UInt64.self, forKey: .sequence),
            at: try members.decode(String.self, forKey: .at),
            event: AgentEvent(
                realm: try members.decodeIfPresent(String.self, forKey: .realm),
                payload
            )
        )
    }
}
