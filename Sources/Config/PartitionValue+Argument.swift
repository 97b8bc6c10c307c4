extension PartitionValue {
    /// As it stands on a command line: `string:store-42`, `int:42`, `object_id:…`, `uuid:…` or `null`.
    package init?(argument text: String) {
        guard text != "null" else {
            self = .null
            return
        }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let kind = Kind(rawValue: String(parts[0])) else { return nil }
        self.init(String(parts[1]), kind: kind)
    }
}
