/// Reads and writes schemas, documents and the records of imports in a transaction.
class SQLiteDocumentTransaction: SQLiteHistoryTransaction {}
