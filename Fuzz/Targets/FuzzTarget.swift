/// The readers of bytes from peers, programs, operators and disks, each as one function of bytes.
///
/// Every input gives a result or an error: what traps, or breaks one of the claims, is a fault.
package enum FuzzTarget: String, CaseIterable, Sendable {
    case changeset
    /// Two changesets that meet.
    case merge
    case clientMessage = "client-message"
    case serverMessage = "server-message"
    /// The messages of one connection, in any order, with a store that knows nothing.
    case connection
    /// The stored form of an object.
    case document
    case bson
    case extendedJSON = "extended-json"
    case yaml
    case agentConfiguration = "agent-configuration"
    /// Cron lines, windows of a week, and files of time zones.
    case schedule
    case query
    case accessRule = "access-rule"
    /// A request of the client API: its line, and its body as each provider reads it.
    case clientRequest = "client-request"
    /// Bodies of the control API.
    case controlRequest = "control-request"
    /// Columns of the server's store.
    case serverRecord = "server-record"
    /// A dump of the hosted service, in pieces: an archive, BSON, lines, or an array.
    case dump
    /// The export of a hosted app.
    case appExport = "app-export"
    /// The capture log of a hostile program.
    case captureLog = "capture-log"
    /// The agent's own tables in a realm file, after a damage.
    case realmFile = "realm-file"

    /// The claims that the input breaks.
    package func run(_ bytes: [UInt8]) -> [String] {
        var claims = Claims()
        switch self {
        case .changeset: ChangesetInput.run(bytes, &claims)
        case .merge: MergeInput.run(bytes, &claims)
        case .clientMessage: MessageInput.runClient(bytes, &claims)
        case .serverMessage: MessageInput.runServer(bytes, &claims)
        case .connection: ConnectionInput.run(bytes, &claims)
        case .document: DocumentInput.runStored(bytes, &claims)
        case .bson: DocumentInput.runBSON(bytes, &claims)
        case .extendedJSON: DocumentInput.runExtendedJSON(bytes, &claims)
        case .yaml: ConfigurationInput.runYAML(bytes, &claims)
        case .agentConfiguration: ConfigurationInput.runAgent(bytes, &claims)
        case .schedule: ScheduleInput.run(bytes, &claims)
        case .query: QueryInput.run(bytes, &claims)
        case .accessRule: QueryInput.runAccessRule(bytes, &claims)
        case .clientRequest: RequestInput.runClient(bytes, &claims)
        case .controlRequest: RequestInput.runControl(bytes, &claims)
        case .serverRecord: ServerRecordInput.run(bytes, &claims)
        case .dump: DumpInput.run(bytes, &claims)
        case .appExport: ExportInput.run(bytes, &claims)
        case .captureLog: CaptureInput.run(bytes, &claims)
        case .realmFile: RealmFileInput.run(bytes, &claims)
        }
        return claims.broken
    }
}
