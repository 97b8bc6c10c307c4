import Logging
import ServerStore

extension ClientAPIResponse {
    /// For failures of the server: the log has the reason, the response does not.
    init(failure: any Error, of request: ClientAPIRequest, logger: Logger) {
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
