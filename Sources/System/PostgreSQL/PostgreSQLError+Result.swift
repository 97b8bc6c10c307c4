internal import CPostgres

extension PostgreSQLError {
    /// The error that a result reports.
    ///
    /// Without an SQLSTATE it is libpq's own: the connection failed.
    init(result: OpaquePointer, step: Int?) {
        func field(_ code: Int32) -> String? {
            PQresultErrorField(result, code).map { String(cString: $0) }
        }
        // The macros of libpq are characters, which do not reach Swift.
        let text = field(Int32(UInt8(ascii: "M"))) ?? String(cString: PQresultErrorMessage(result))
        guard let state = field(Int32(UInt8(ascii: "C"))), state.utf8.count == 5 else {
            self.init(.unreachable, text, step: step)
            return
        }
        let severity = field(Int32(UInt8(ascii: "V"))) ?? ""
        self.init(
            .server(sqlState: state),
            ServerText.message(text, state: state),
            constraint: field(Int32(UInt8(ascii: "n"))),
            step: step,
            connectionIsLost: severity == "FATAL" || severity == "PANIC"
        )
    }
}
