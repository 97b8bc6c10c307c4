import Logging

extension ServiceAnswer {
    /// For what is not the client's doing: the log has the reason, the client learns none of it.
    init(failure: any Error, of request: ServiceRequest, logger: Logger) {
        if failure is StoreError {
            logger.error("store failed", metadata: ["error": "\(failure)"])
            self.init(.storage)
        } else {
            logger.error(
                "request failed",
                metadata: ["path": "\(request.path)", "error": "\(failure)"]
            )
            self.init(.unexpected)
        }
    }
}
