import ClientReset
import Config
import Logging
import Platform

/// `log`: writes the event to the agent's log, at a level of its own.
struct LogHandler: RealmHandler {
    let level: LogConfiguration.Level
    let logger: Logger

    func handle(_ request: HandlerRequest) async throws(HandlerFailure) -> HandlerReply {
        guard let level = LogLevel(rawValue: level.rawValue)?.threshold else { return .continue }
        var fields: Logger.Metadata = [
            "kind": "\(request.event.kind)", "realm": "\(request.subject.realm)",
            "path": "\(request.subject.path)",
        ]
        switch request.event {
        case .error(let report):
            fields["code"] = "\(report.code)"
            fields["error"] = "\(report.message)"
            report.sdkCode.map { fields["sdk_code"] = "\($0)" }
            report.logURL.map { fields["log_url"] = "\($0)" }
        case .clientResetBefore(let reason, let mode):
            fields["reason"] = "\(reason)"
            fields["mode"] = "\(mode.rawValue)"
        case .clientResetAfter(let reset):
            fields["mode"] = "\(reset.mode.rawValue)"
            fields["recovered"] = "\(reset.didRecover)"
            reset.discarded.map { fields["discarded"] = "\($0.values.reduce(0, +))" }
            reset.exportPath.map { fields["export_path"] = "\($0)" }
        case .clientResetManual(let reset):
            fields["code"] = "\(reset.code)"
            fields["reason"] = "\(reset.reason)"
            reset.recoveryPath.map { fields["recovery_path"] = "\($0)" }
        case .writeRejected(let rejects):
            fields["rejects"] = "\(rejects.count)"
            rejects.first.map { fields["reason"] = "\($0.reason)" }
        case .subscriptionsRejected(let set):
            fields["set"] = "\(set.version)"
            fields["reason"] = "\(set.message)"
        }
        logger.log(level: level, "a handler was asked to log this", metadata: fields)
        return .continue
    }
}
