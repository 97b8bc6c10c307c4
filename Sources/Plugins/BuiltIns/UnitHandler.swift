import Platform

/// `notify-systemd`: starts a unit, which reacts to the event.
struct UnitHandler: RealmHandler {
    let unit: String
    let starter: any UnitStarter

    func handle(_ request: HandlerRequest) async throws(HandlerFailure) -> HandlerReply {
        do throws(SystemBusFailure) {
            try await starter.startUnit(unit)
            return .continue
        } catch {
            throw .unit(unit, reason: error.reason)
        }
    }
}
