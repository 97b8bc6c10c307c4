import Testing

@testable import PostgreSQL

@Suite("Errors of PostgreSQL")
struct PostgreSQLErrorTests {
    @Test(
        "Each code has its condition",
        arguments: [
            ("57P01", .unreachable), ("57P02", .unreachable), ("57P03", .unreachable),
            ("08006", .unreachable), ("25P03", .unreachable), ("55P03", .locked),
            ("40001", .mustRetry), ("40P01", .mustRetry), ("57014", .timedOut),
            ("53100", .diskFull), ("25006", .readOnly), ("53300", .tooManyConnections),
            ("23505", .constraint), ("22021", .unacceptable), ("54000", .unacceptable),
            ("42501", .unusable), ("42P01", .unusable), ("XX001", .unusable),
            ("28P01", .unusable), ("3D000", .unusable), ("42601", .other), ("53200", .other),
        ] as [(String, PostgreSQLError.Condition)]
    )
    func conditions(code: String, condition: PostgreSQLError.Condition) {
        #expect(PostgreSQLError(.server(sqlState: code), "").condition == condition)
    }

    @Test("Conditions of errors that are not the server's")
    func otherConditions() {
        #expect(PostgreSQLError.timedOut.condition == .unreachable)
        #expect(PostgreSQLError.interrupted.condition == .unreachable)
        #expect(PostgreSQLError(.unreachable, "").condition == .unreachable)
        #expect(PostgreSQLError.tooLarge.condition == .unacceptable)
        #expect(PostgreSQLError.malformed("").condition == .other)
    }

    @Test("An error ends the connection, or not")
    func losses() {
        for code in ["57P01", "57P02", "57P03", "08006", "25P03"] {
            #expect(PostgreSQLError(.server(sqlState: code), "").connectionIsLost)
        }
        for code in ["57014", "23505", "40001", "53100", "22021"] {
            #expect(!PostgreSQLError(.server(sqlState: code), "").connectionIsLost)
        }
    }

    @Test("libpq's text of a refused connection is taken apart")
    func connectionErrors() {
        let error = ServerText.connectionError(
            """
            connection to server at "db" (10.0.0.1), port 5432 failed: FATAL:  28P01: password \
            authentication failed for user "u"
            LOCATION:  auth_failed, auth.c:335
            """,
            of: "db:5432"
        )
        #expect(error.sqlState == "28P01")
        #expect(error.message == "db:5432: password authentication failed for user \"u\"")
        #expect(error.connectionIsLost)
        let other = ServerText.connectionError("could not connect\nmore", of: "db:5432")
        #expect(other.cause == .unreachable)
        #expect(other.message == "db:5432: could not connect")
        #expect(ServerText.connectionError("", of: "db:5432").cause == .unreachable)
    }

    @Test("Texts become one line")
    func lines() {
        #expect(ServerText.line("a\n\t b\u{7} ") == "a b")
        #expect(ServerText.line("") == "")
        #expect(ServerText.line(String(repeating: "ä", count: 400)).count == 300)
    }
}
