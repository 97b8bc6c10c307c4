/// Reads and writes what log-ins need in a transaction: passwords, tokens and log-in sessions.
class SQLiteLogInTransaction: SQLiteAccountTransaction {}
