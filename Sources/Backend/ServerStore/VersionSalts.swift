package import Versions

/// The salts of the versions that one process makes, a different one for each generation of a file
/// (sync history, 17).
///
/// A file that begins again numbers its versions from the start. A restored copy of a realm may
/// know versions of an earlier generation by the same numbers. A store restored from a backup must
/// not restore the salts, or used version numbers would get the same salt again: so they are kept in
/// memory only.
package struct VersionSalts: Sendable {
    private let process: Salt

    /// `process`: random, and never stored.
    package init(_ process: Salt) {
        self.process = process
    }

    /// From the system's random numbers.
    package static func random() -> VersionSalts {
        VersionSalts(Salt(UInt64.random(in: 1...UInt64(Int64.max))))
    }

    /// The salt of a file's next versions: not zero, and below 2^63.
    package func salt(of file: ServerFile) -> Salt {
        var mixed = process.rawValue &+ file.generation &* 0x9e37_79b9_7f4a_7c15
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        mixed = (mixed ^ mixed >> 31) & UInt64(Int64.max)
        return Salt(max(1, mixed))
    }
}
