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

func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

let package = Package(
    name: "benchmarks",
    targets: [
        .systemLibrary(
            name: "CSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"])]
        ),
        module("CLinux"),
        module("Changesets"),
        module("JSON"),
        module("Versions"),
        module("Coordination"),
        module("Merge", ["Changesets"]),
        module("Schemas", ["Changesets"]),
        module("Scopes", ["Changesets", "JSON"]),
        module("Documents", ["Changesets", "JSON", "Schemas"]),
        module("Query", ["Changesets", "Documents", "JSON", "Schemas"]),
        module("ClientReset", ["Changesets", "Documents", "Schemas", "Versions"]),
        module("SQLite", ["CLinux", "CSQLite", "Coordination"]),
        module(
            "LocalRealm",
            [
                "Changesets", "ClientReset", "Documents", "Merge", "SQLite", "Schemas", "Scopes",
                "Versions",
            ]
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
            dependencies: ["Changesets", "LocalRealm", "SQLite", "Schemas", "Scopes", "Versions"],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)
