// swift-tools-version: 6.2
import PackageDescription

// The modules under measurement are compiled here from the same sources, by symbolic links: what they
// offer to one another has `package` access, which a product of the package above would not show.

let settings: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "benchmarks",
    targets: [
        .target(name: "Changesets", swiftSettings: settings),
        .target(name: "Merge", dependencies: ["Changesets"], swiftSettings: settings),
        .target(name: "Schemas", dependencies: ["Changesets"], swiftSettings: settings),
        .target(
            name: "Documents",
            dependencies: ["Changesets", "JSON", "Schemas"],
            swiftSettings: settings
        ),
        .target(name: "JSON", swiftSettings: settings),
        .target(
            name: "Query",
            dependencies: ["Changesets", "Documents", "JSON", "Schemas"],
            swiftSettings: settings
        ),
        .target(name: "Scopes", dependencies: ["Changesets", "JSON"], swiftSettings: settings),
        .target(name: "CLinux"),
        .target(name: "Coordination", swiftSettings: settings),
        .target(name: "Versions", swiftSettings: settings),
        .target(
            name: "ClientReset",
            dependencies: ["Changesets", "Documents", "Schemas", "Versions"],
            swiftSettings: settings
        ),
        .systemLibrary(
            name: "CSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"])]
        ),
        .target(
            name: "SQLite",
            dependencies: ["CLinux", "CSQLite", "Coordination"],
            swiftSettings: settings
        ),
        .target(
            name: "LocalRealm",
            dependencies: [
                "Changesets", "ClientReset", "Documents", "Merge", "SQLite", "Schemas", "Scopes",
                "Versions",
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "CodecBenchmark",
            dependencies: ["Changesets"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "FanoutBenchmark",
            dependencies: ["Changesets", "Documents", "Query", "Schemas"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "MergeBenchmark",
            dependencies: ["Changesets", "Merge"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "RealmBenchmark",
            dependencies: ["Changesets", "LocalRealm", "SQLite", "Schemas", "Versions"],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)
