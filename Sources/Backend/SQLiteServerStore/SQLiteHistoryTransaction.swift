/// Reads and writes histories, reciprocals and snapshots in a transaction.
class SQLiteHistoryTransaction: SQLiteFileTransaction {}
