internal import Changesets
internal import SQLite
internal import Schemas
internal import Subscriptions
internal import Versions

extension RealmFile {
    /// Runs the body in one write transaction, and adopts its draft once it is committed.
    func write<Result>(
        _ durability: FileRest.Durability,
        _ body: (inout Draft) throws -> Result
    ) throws -> Result {
        try rest.use()
        try rest.set(durability)
        var draft = committed
        defer { ownWrites.end() }
        do {
            let result = try connection.transaction(.immediate) {
                ownWrites.begin()
                let result = try body(&draft)
                try draft.state.save(to: connection)
                return result
            }
            committed = draft
            isDurable = durability == .full
            hasEmptyHistory = false
            return result
        } catch {
            // Some may be for tables that were rolled back.
            statements.removeAll()
            remoteTriggers.forget()
            throw error
        }
    }

    func mappingErrors<Result>(
        _ body: () throws -> Result
    ) throws(LocalRealmError) -> Result {
        do throws(LocalRealmError) {
            return try Self.mappingErrors(configuration.path) {
                try rest.requireSameFile()
                try rest.use()
                return try body()
            }
        } catch {
            if error.kind != .busy { rest.keepNoRecord() }
            throw error
        }
    }

    /// The same for work that leaves the connection as it is: a file that rests stays at rest.
    func mappingErrorsAtRest<Result>(
        _ body: () throws -> Result
    ) throws(LocalRealmError) -> Result {
        try Self.mappingErrors(configuration.path) {
            try rest.requireSameFile()
            return try body()
        }
    }

    /// Converts the errors of all parts to `LocalRealmError`.
    static func mappingErrors<Result>(
        _ path: String,
        _ body: () throws -> Result
    ) throws(LocalRealmError) -> Result {
        do {
            return try body()
        } catch let error as LocalRealmError {
            throw error
        } catch let error as SQLiteError {
            throw LocalRealmError(error, path: path)
        } catch let error as RemoteTriggers.Refusal {
            throw LocalRealmError(
                .schemaRemoteTrigger,
                path: path,
                "a trigger of run_on_remote refused a change: \(error.cause.message)",
                cause: error.cause
            )
        } catch {
            let (kind, message) = describe(error)
            throw LocalRealmError(kind, path: path, message)
        }
    }

    private static func describe(_ error: any Error) -> (LocalRealmError.Kind, String) {
        switch error {
        case FileLock.Failure.held:
            (.locked, "another agent has the realm open")
        case FileLock.Failure.system(let problem):
            (.cannotOpen, problem)
        case let error as NameTaken:
            (.schemaNameTaken, "\(error.occupant) has the name that class \(error.className) needs")
        case let error as SubscriptionViolation:
            (.badSubscriptions, "\(error)")
        case let error as Draft.Altered:
            (.schemaAltered, error.alterations.joined(separator: "; "))
        case let error as ProgressDecrease:
            (
                .badProgress,
                """
                the server moved the \(error.name) back from \(error.stored) to \(error.offered)
                """
            )
        case let error as Integration.Failure:
            (.badChangeset, "\(error)")
        case let error as BadInstruction:
            (.badChangeset, "\(error)")
        case let error as Blocked:
            (.badChangeset, error.problem)
        case let error as DecodeError:
            (.corrupt, "the history holds a \(error)")
        case let error as DamagedValue:
            (.corrupt, "\(error)")
        case let error as RealmStateRow.DamagedColumn:
            (.corrupt, "\(error)")
        case is DamagedCatalogue:
            (.corrupt, "the catalogue of classes is damaged")
        case is Drain.ClockBeforeEpoch:
            (.clockBeforeEpoch, "this machine's clock is before 2015")
        default:
            (.database, "\(error)")
        }
    }
}
