internal import Versions

/// Files that have grown and have not been announced yet (server on PostgreSQL, 6.1).
///
/// It holds the newest version of each file, so a busy file costs one entry however often it grows.
package struct GrowthOutbox: Sendable {
    private var versions: [Int64: ServerVersion] = [:]
    /// The files in order of their first growth, so that none of them waits for ever.
    private var order: [Int64] = []

    /// PostgreSQL refuses a payload of 8 000 bytes or more.
    package static let payloadLimitInBytes = 7_900

    package init() {}

    package var isEmpty: Bool { order.isEmpty }

    /// True if the outbox was empty before: then its sender must be woken.
    package mutating func append(_ growth: Announcement.Growth) -> Bool {
        let wasEmpty = order.isEmpty
        if let known = versions[growth.file] {
            versions[growth.file] = max(known, growth.version)
        } else {
            versions[growth.file] = growth.version
            order.append(growth.file)
        }
        return wasEmpty
    }

    /// Takes everything out, as payloads below the limit.
    package mutating func takePayloads() -> [String] {
        var payloads: [String] = []
        var batch: [Announcement.Growth] = []
        var size = 1
        for file in order {
            guard let version = versions[file] else { continue }
            let growth = Announcement.Growth(file: file, version: version)
            let added = growth.text.utf8.count + 1
            if size + added > Self.payloadLimitInBytes, !batch.isEmpty {
                payloads.append(Announcement.grown(batch).payload)
                batch = []
                size = 1
            }
            batch.append(growth)
            size += added
        }
        if !batch.isEmpty { payloads.append(Announcement.grown(batch).payload) }
        versions = [:]
        order = []
        return payloads
    }
}
