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

let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let serviceLifecycle = Target.Dependency.product(
    name: "ServiceLifecycle",
    package: "swift-service-lifecycle"
)
let nio: [Target.Dependency] = [
    .product(name: "NIOCore", package: "swift-nio"),
    .product(name: "NIOPosix", package: "swift-nio"),
    .product(name: "NIOHTTP1", package: "swift-nio"),
    .product(name: "NIOWebSocket", package: "swift-nio"),
    .product(name: "NIOTLS", package: "swift-nio"),
    .product(name: "NIOSSL", package: "swift-nio-ssl"),
]

let package = Package(
    name: "benchmarks",
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"])]
        ),
        .systemLibrary(
            name: "CZlib",
            pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"])]
        ),
        module("CLinux"),
        module("Changesets"),
        module("JSON"),
        module("Versions"),
        module("Coordination"),
        module("Merge", ["Changesets"]),
        module("Digests", ["Changesets", "Documents", "Schemas"]),
        module("MetricsFormat"),
        module("Subscriptions", ["Changesets", "Query", "Schemas", "Versions"]),
        module("Schemas", ["Changesets"]),
        module("Scopes", ["Changesets", "JSON"]),
        module("Documents", ["Changesets", "JSON", "Schemas"]),
        module("Query", ["Changesets", "Documents", "JSON", "Schemas"]),
        module("ClientReset", ["Changesets", "Documents", "Schemas", "Versions"]),
        module("SQLite", ["CLinux", "CSQLite", "Coordination"]),
        module(
            "LocalRealm",
            [
                "Changesets", "ClientReset", "Digests", "Documents", "Merge", "Query", "SQLite",
                "Schemas", "Scopes", "Subscriptions", "Versions", crypto,
            ]
        ),
        module("QuerySQL", ["Changesets", "Documents", "JSON", "Query", "Schemas"]),
        module("Permissions", ["Changesets", "JSON", "Query", "Schemas"]),
        module("SyncProtocol", ["Changesets", "CZlib", "JSON", "Versions"]),
        module("Outbound", nio),
        module("Transport", ["CLinux", "Coordination", "Outbound", "SyncProtocol", deque] + nio),
        module("Surroundings", ["Changesets", "Versions"]),
        module("ServerStore", ["Changesets", "JSON", "Query", "Schemas", "Scopes", "Versions"]),
        module("ServerMetrics", ["MetricsFormat", "ServerStore"]),
        module(
            "SQLiteServerStore",
            [
                "Changesets", "Coordination", "JSON", "Query", "QuerySQL", "SQLite", "Schemas",
                "Scopes", "ServerStore", "Versions", deque, logging,
            ]
        ),
        module(
            "SyncServer",
            [
                "Changesets", "Coordination", "Digests", "Documents", "JSON", "Merge",
                "Permissions", "Query", "Schemas", "Scopes", "ServerMetrics", "ServerStore",
                "Surroundings", "SyncProtocol", "Transport", "Versions", crypto, deque, logging,
                serviceLifecycle,
            ]
        ),
        .executableTarget(
            name: "ViewBenchmark",
            dependencies: [
                "Changesets", "Permissions", "Query", "SQLiteServerStore", "Schemas", "Scopes",
                "ServerStore", "Surroundings", "SyncProtocol", "SyncServer", "Transport",
                "Versions", logging,
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
            dependencies: ["Changesets", "LocalRealm", "SQLite", "Schemas", "Scopes", "Versions"],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)
