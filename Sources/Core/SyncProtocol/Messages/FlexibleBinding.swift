package import Changesets
import FoundationEssentials

/// The JSON object in the path of a BIND of flexible sync (wire protocol, 5.1).
package struct FlexibleBinding: Hashable, Sendable {
    /// The file's partition before its app moved to flexible sync, as in a BIND of that time.
    package let migratedPartition: Text?
    /// 0 for a schema without versions.
    package let schemaVersion: UInt64
    package let purpose: Purpose

    package enum Purpose: UInt64, Hashable, Sendable {
        case sync = 0
        /// The session downloads the fresh copy for a client reset.
        case clientReset = 1
    }

    package init(
        migratedPartition: Text? = nil,
        schemaVersion: UInt64 = 0,
        purpose: Purpose = .sync
    ) {
        self.migratedPartition = migratedPartition
        self.schemaVersion = schemaVersion
        self.purpose = purpose
    }

    /// Reads the path; nil if it is not such an object, which is an illegal path (204).
    ///
    /// Clients below version 8 send an empty path. Unknown members are ignored, and an unknown
    /// purpose is an ordinary session.
    package init?(decoding path: Text) {
        guard !path.bytes.isEmpty else {
            self.init()
            return
        }
        // Valid UTF-8 without zeros: the decoder would also accept UTF-16 and UTF-32.
        guard path.string != nil, path.bytes.first == UInt8(ascii: "{"), !path.bytes.contains(0),
            let members = try? JSONDecoder().decode(Members.self, from: Data(path.bytes)),
            members.schemaVersion ?? 0 <= WireRange.maximum
        else { return nil }
        self.init(
            migratedPartition: members.migratedPartition.map { Text($0) },
            schemaVersion: members.schemaVersion ?? 0,
            purpose: members.sessionReason.flatMap(Purpose.init) ?? .sync
        )
    }

    /// The path of a BIND, members in alphabetical order.
    package var encoded: Text {
        var object = JSONObjectBuilder()
        if let migratedPartition { object.write("migratedPartition", "\(migratedPartition)") }
        object.write("schemaVersion", schemaVersion)
        object.write("sessionReason", purpose.rawValue)
        return Text(bytes: object.bytes)
    }

    private struct Members: Decodable {
        let migratedPartition: String?
        let schemaVersion: UInt64?
        let sessionReason: UInt64?
    }
}
