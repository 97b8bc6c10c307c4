/// Reads and writes apps, users and API keys in a transaction.
class SQLiteAccountTransaction: SQLiteConnectionTransaction {}
