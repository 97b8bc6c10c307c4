/// The readers of bytes from peers, programs and operators, each as one function of bytes.
///
/// Every input gives a result or an error: what traps, or breaks a claim of `check`, is a fault.
package enum FuzzTarget: String, CaseIterable, Sendable {
    case changeset
    /// Two changesets that meet.
    case merge
    case clientMessage = "client-message"
    case serverMessage = "server-message"
    /// The messages of one connection, in any order, with a store that knows nothing.
    case connection
    case bson
    case extendedJSON = "extended-json"
    case yaml
    case agentConfiguration = "agent-configuration"
    /// Cron lines, windows of a week, and files of time zones.
    case schedule
    case query
    case accessRule = "access-rule"

    package func run(_ bytes: [UInt8]) {
        switch self {
        case .changeset: ChangesetInput.run(bytes)
        case .merge: MergeInput.run(bytes)
        case .clientMessage: MessageInput.runClient(bytes)
        case .serverMessage: MessageInput.runServer(bytes)
        case .connection: ConnectionInput.run(bytes)
        case .bson: DocumentInput.runBSON(bytes)
        case .extendedJSON: DocumentInput.runExtendedJSON(bytes)
        case .yaml: ConfigurationInput.runYAML(bytes)
        case .agentConfiguration: ConfigurationInput.runAgent(bytes)
        case .schedule: ScheduleInput.run(bytes)
        case .query: QueryInput.run(bytes)
        case .accessRule: QueryInput.runAccessRule(bytes)
        }
    }
}

/// A claim that every input must fulfil.
func check(_ holds: Bool, _ claim: @autoclosure () -> String) {
    guard holds else { fatalError(claim()) }
}
