import ServerStore
import Settings

extension UserQuotas {
    init(reading keys: MappingReader) {
        let standard = UserQuotas.standard
        self.init(
            realms: keys.quota("realms", standard.realms),
            clientFiles: keys.quota("client_files", standard.clientFiles),
            sessions: keys.quota("sessions", standard.sessions),
            historyBytes: keys.optional("bytes", default: standard.historyBytes ?? 0) {
                $0.size(in: 0...(1 << 50))
            }.nilIfZero
        )
    }
}

extension MappingReader {
    fileprivate func quota(_ key: String, _ standard: Int?) -> Int? {
        optional(key, default: standard ?? 0) { $0.integer(in: 0...1_000_000_000) }.nilIfZero
    }
}

extension Int {
    /// 0 means no limit.
    fileprivate var nilIfZero: Int? { self == 0 ? nil : self }
}
