import Settings

/// The program that decides who may read and write which partition (moving an app, 13, N2).
package struct AccessProgramConfiguration: Hashable, Sendable {
    package let hook: HookConfiguration
    /// The time for which a decision counts.
    package let lifetime: Duration

    package static let usualLifetime = Duration.seconds(60)
    private static let lifetimes: ClosedRange<Duration> = .zero ... .seconds(86_400)

    package init(hook: HookConfiguration, lifetime: Duration = Self.usualLifetime) {
        self.hook = hook
        self.lifetime = lifetime
    }

    /// Nil without a command.
    init?(reading keys: MappingReader, _ files: NamedFiles?) {
        let lifetime = keys.optional("cache", default: Self.usualLifetime) {
            $0.duration(in: Self.lifetimes)
        }
        guard let hook = HookConfiguration(readingOptional: keys, files) else { return nil }
        self.init(hook: hook, lifetime: lifetime)
    }
}
