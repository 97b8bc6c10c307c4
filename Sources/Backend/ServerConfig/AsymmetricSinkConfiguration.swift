import Settings

/// The program that gets the objects of an app's asymmetric classes (flexible sync, 14).
package struct AsymmetricSinkConfiguration: Hashable, Sendable {
    package let hook: HookConfiguration
    /// The directory of lines that the program has not taken yet.
    package let spool: String
    package let spoolSizeInBytes: Int

    package static let usualSize = 256 << 20
    private static let sizes = (1 << 20)...(1 << 40)

    package init(
        hook: HookConfiguration,
        spool: String,
        spoolSizeInBytes: Int = Self.usualSize
    ) {
        self.hook = hook
        self.spool = spool
        self.spoolSizeInBytes = spoolSizeInBytes
    }

    /// Nil, and reported, without a command or a directory.
    init?(reading keys: MappingReader, _ files: NamedFiles?) {
        let spool = keys.required("spool") { $0.absolutePath() }
        let size = keys.optional("spool_limit", default: Self.usualSize) {
            $0.size(in: Self.sizes)
        }
        guard let hook = HookConfiguration(reading: keys, files), let spool else { return nil }
        self.init(hook: hook, spool: spool, spoolSizeInBytes: size)
    }
}
