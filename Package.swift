// swift-tools-version: 6.2
import PackageDescription

// MARK: Settings

let settings: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// The folders of `Sources/`; the modules of the daemon are beside them.
enum Group: String {
    /// Pure modules: no socket, file, clock, task or logger.
    case core = "Core"
    /// SQLite, the network, the Linux host, and C libraries.
    case system = "System"
    /// Local realms, their engine, and the agent's executable.
    case client = "Client"
    /// The server.
    case backend = "Backend"
}

func path(of name: String, in group: Group?) -> String {
    group.map { "Sources/\($0.rawValue)/\(name)" } ?? "Sources/\(name)"
}

func module(
    _ name: String,
    in group: Group? = nil,
    _ dependencies: [Target.Dependency] = []
) -> Target {
    .target(
        name: name,
        dependencies: dependencies,
        path: path(of: name, in: group),
        swiftSettings: settings
    )
}

func program(_ name: String, in group: Group, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name,
        dependencies: dependencies,
        path: path(of: name, in: group),
        swiftSettings: settings
    )
}

func tests(_ name: String, _ dependencies: [Target.Dependency], path: String? = nil) -> Target {
    .testTarget(
        name: "\(name)Tests",
        dependencies: dependencies + ["TestSupport"],
        path: path,
        swiftSettings: settings
    )
}

func benchmark(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name,
        dependencies: dependencies,
        path: "Benchmarks/\(name)",
        swiftSettings: settings
    )
}

func library(_ name: String, in group: Group, _ pkgConfig: String, apt package: String) -> Target {
    .systemLibrary(
        name: name,
        path: path(of: name, in: group),
        pkgConfig: pkgConfig,
        providers: [.apt([package])]
    )
}

// MARK: Products of other packages

let argumentParser = Target.Dependency.product(
    name: "ArgumentParser",
    package: "swift-argument-parser"
)
let asyncHTTPClient = Target.Dependency.product(
    name: "AsyncHTTPClient",
    package: "async-http-client"
)
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let hummingbird: [Target.Dependency] = [
    .product(name: "Hummingbird", package: "hummingbird"),
    .product(name: "HummingbirdCore", package: "hummingbird"),
    .product(name: "HTTPTypes", package: "swift-http-types"),
]
let jwtKit = Target.Dependency.product(name: "JWTKit", package: "jwt-kit")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let nio: [Target.Dependency] = [
    .product(name: "NIOCore", package: "swift-nio"),
    .product(name: "NIOPosix", package: "swift-nio"),
    .product(name: "NIOHTTP1", package: "swift-nio"),
    .product(name: "NIOWebSocket", package: "swift-nio"),
    .product(name: "NIOTLS", package: "swift-nio"),
    nioSSL,
]
let nioHTTPTypes: [Target.Dependency] = [
    .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
    .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
]
let unixSignals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let serviceLifecycle = Target.Dependency.product(
    name: "ServiceLifecycle",
    package: "swift-service-lifecycle"
)
let subprocess = Target.Dependency.product(name: "Subprocess", package: "swift-subprocess")

// MARK: The package

let package = Package(
    name: "realm-agent",
    products: [
        .executable(name: "realm-agent", targets: ["realm-agent"]),
        .executable(name: "realm-server", targets: ["realm-server"]),
        .library(name: "RealmSync", targets: ["RealmSync"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird",
            from: "2.28.1",
            traits: []
        ),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2"),
    ],
    targets: [
        // Debian's libraries.
        library("CCrypt", in: .system, "libcrypt", apt: "libcrypt-dev"),
        library("CPostgres", in: .system, "libpq", apt: "libpq-dev"),
        library("CSQLite", in: .system, "sqlite3", apt: "libsqlite3-dev"),
        library("CSystemd", in: .system, "libsystemd", apt: "libsystemd-dev"),
        library("CYAML", in: .system, "yaml-0.1", apt: "libyaml-dev"),
        library("CZlib", in: .system, "zlib", apt: "zlib1g-dev"),

        // What Swift's Glibc module leaves out.
        module("CLinux", in: .system),

        // Pure modules: no socket, file, clock, task or logger.
        module("Changesets", in: .core),
        module("Schemas", in: .core, ["Changesets"]),
        module("Documents", in: .core, ["Changesets", "JSON", "Schemas"]),
        module("Query", in: .core, ["Changesets", "Documents", "JSON", "Schemas"]),
        module("QuerySQL", in: .core, ["Changesets", "Documents", "JSON", "Query", "Schemas"]),
        module("Permissions", in: .core, ["Changesets", "JSON", "Query", "Schemas"]),
        module("Merge", in: .core, ["Changesets"]),
        module("Digests", in: .core, ["Changesets", "Documents", "Schemas"]),
        module("BSON", in: .core, ["Changesets", "Documents", "JSON", "Schemas"]),
        module(
            "Migration",
            in: .core,
            [
                "BSON", "Changesets", "Documents", "JSON", "SchemaFiles", "Schemas", "Scopes",
                "Settings", "YAML",
            ]
        ),
        module("Scopes", in: .core, ["Changesets", "JSON"]),
        module("Versions", in: .core),
        module("Subscriptions", in: .core, ["Changesets", "Query", "Schemas", "Versions"]),
        module("ClientReset", in: .core, ["Changesets", "Documents", "Schemas", "Versions"]),
        module("YAML", in: .core, ["CYAML"]),
        module("JSON", in: .core),
        module("MetricsFormat", in: .core),
        module("ConsolePages", in: .core),
        module("Settings", in: .core, ["JSON", "YAML"]),
        module("Scheduling", in: .core),
        module(
            "SchemaFiles",
            in: .core,
            ["Changesets", "Documents", "JSON", "Schemas", "Settings", "YAML"]
        ),
        module(
            "Config",
            [
                "Changesets", "JSON", "Query", "Scheduling", "SchemaFiles", "Schemas", "Scopes",
                "Settings", "YAML",
            ]
        ),
        module("SyncProtocol", in: .core, ["Changesets", "CZlib", "JSON", "Versions"]),

        // How tasks wait for each other.
        module("Coordination", in: .system),

        // The agent's half.
        module("SQLite", in: .system, ["CLinux", "CSQLite", "Coordination"]),
        module(
            "LocalRealm",
            in: .client,
            [
                "CLinux", "Changesets", "ClientReset", "Coordination", "Digests", "Documents",
                "Merge", "Query", "SQLite", "Schemas", "Scopes", "Subscriptions", "Versions",
                crypto,
            ]
        ),
        module("Outbound", in: .system, nio),
        module(
            "Transport",
            in: .system,
            ["CLinux", "Coordination", "Outbound", "SyncProtocol", deque] + nio
        ),
        module(
            "AppServices",
            in: .client,
            ["Digests", "JSON", "Outbound", asyncHTTPClient, logging] + nio
        ),
        module(
            "Platform",
            in: .system,
            ["CLinux", "CSystemd", "Coordination", "Scheduling", "Settings", "YAML", logging]
        ),
        module("Programs", in: .system, ["CLinux", "Coordination"]),
        module("WorkDisplay", in: .system),
        module(
            "Plugins",
            [
                "ClientReset", "Config", "Outbound", "Platform", "Programs", "Scheduling",
                "Settings", asyncHTTPClient, logging,
            ] + nio
        ),
        module(
            "Control",
            in: .client,
            ["MetricsFormat", asyncHTTPClient, logging, serviceLifecycle] + hummingbird + nio
        ),
        module(
            "SyncClient",
            in: .client,
            [
                "Changesets", "ClientReset", "Coordination", "LocalRealm", "SQLite", "Scheduling",
                "Scopes", "Subscriptions", "SyncProtocol", "Transport", "Versions", logging,
            ]
        ),
        module(
            "RealmSync",
            in: .client,
            [
                "AppServices", "Changesets", "ClientReset", "Coordination", "Digests", "LocalRealm",
                "Outbound", "SQLite", "Scheduling", "SchemaFiles", "Schemas", "Scopes", "Settings",
                "Subscriptions", "SyncClient", "SyncProtocol", "Transport", "Versions", logging,
                nioSSL,
            ]
        ),
        module(
            "Agent",
            [
                "AppServices", "Changesets", "ClientReset", "Config", "Control", "Coordination",
                "Digests", "LocalRealm", "Outbound", "Platform", "Plugins", "Programs", "RealmSync",
                "SQLite", "Scheduling", "SchemaFiles", "Schemas", "Scopes", "Settings",
                "Subscriptions", "SyncClient", "SyncProtocol", "Transport", "Versions", "YAML",
                logging, nioSSL, serviceLifecycle,
            ]
        ),
        program(
            "realm-agent",
            in: .client,
            [
                "Agent", "Config", "Control", "Platform", "RealmSync", "Scheduling", "Scopes",
                "Settings", "WorkDisplay", argumentParser, logging, serviceLifecycle, unixSignals,
            ]
        ),

        // The library's example, built without access to what is not public.
        .executableTarget(
            name: "SyncNotes",
            dependencies: ["RealmSync"],
            path: "examples/SyncNotes/Sources/SyncNotes",
            packageAccess: false
        ),

        // The server's half.
        module("PostgreSQL", in: .system, ["CPostgres"]),
        module("Surroundings", in: .backend, ["Changesets", "Versions"]),
        module(
            "ServerStore",
            in: .backend,
            ["Changesets", "JSON", "Query", "Schemas", "Scopes", "Versions"]
        ),
        module("ServerMetrics", in: .backend, ["MetricsFormat", "Platform", "ServerStore"]),
        module(
            "SQLiteServerStore",
            in: .backend,
            [
                "Changesets", "Coordination", "JSON", "Query", "QuerySQL", "SQLite", "Schemas",
                "Scopes", "ServerStore", "Versions", deque, logging,
            ]
        ),
        module(
            "SyncServer",
            in: .backend,
            [
                "Changesets", "Coordination", "Digests", "Documents", "JSON", "Merge",
                "Permissions", "Query", "Schemas", "Scopes", "ServerMetrics", "ServerStore",
                "Surroundings", "SyncProtocol", "Transport", "Versions", crypto, deque, logging,
            ]
        ),
        module(
            "ServerConfig",
            in: .backend,
            [
                "Changesets", "Permissions", "Query", "SchemaFiles", "Schemas", "Scopes",
                "ServerStore", "Settings", "YAML",
            ]
        ),
        module(
            "AsymmetricSink",
            in: .backend,
            ["Changesets", "Coordination", "JSON", "Programs", "ServerStore", logging]
        ),
        module(
            "ServerAccounts",
            in: .backend,
            [
                "CCrypt", "Changesets", "Coordination", "Documents", "JSON", "Programs", "SQLite",
                "Schemas", "Scopes", "ServerConfig", "ServerMetrics", "ServerStore", "Settings",
                "Surroundings", "Versions", crypto, jwtKit, logging,
            ]
        ),
        module(
            "ServerHTTP",
            in: .backend,
            [
                "Changesets", "Coordination", "Digests", "JSON", "MetricsFormat", "Query",
                "Schemas", "Scopes", "ServerAccounts", "ServerConfig", "ServerMetrics",
                "ServerStore", "Settings", "Surroundings", "SyncProtocol", "SyncServer",
                "Transport", "Versions", asyncHTTPClient, logging, serviceLifecycle,
            ] + hummingbird + nio + nioHTTPTypes
        ),
        module(
            "ServerConsole",
            in: .backend,
            ["ConsolePages", "ServerHTTP", "ServerStore", logging, serviceLifecycle]
                + hummingbird + nio
        ),
        module(
            "Server",
            in: .backend,
            [
                "AsymmetricSink", "Changesets", "Coordination", "JSON", "Permissions", "Programs",
                "Query", "Scopes", "ServerAccounts", "ServerConfig", "ServerHTTP", "ServerMetrics",
                "ServerStore", "Settings", "Surroundings", "SyncProtocol", "SyncServer",
                "Transport", logging, serviceLifecycle,
            ] + nio
        ),
        module(
            "PostgreSQLServerStore",
            in: .backend,
            [
                "Changesets", "Coordination", "JSON", "PostgreSQL", "Query", "QuerySQL", "Schemas",
                "Scopes", "ServerStore", "Versions", crypto, deque, logging,
            ]
        ),
        module(
            "ServerCluster",
            in: .backend,
            [
                "Changesets", "PostgreSQL", "PostgreSQLServerStore", "ServerStore", "Surroundings",
                "Versions", logging,
            ]
        ),
        module(
            "ServerStorage",
            in: .backend,
            [
                "Changesets", "Documents", "Platform", "PostgreSQL", "PostgreSQLServerStore",
                "SQLite", "SQLiteServerStore", "Schemas", "ServerCluster", "ServerConfig",
                "ServerStore", "Settings", "Surroundings", crypto, logging,
            ]
        ),
        module(
            "ServerMigration",
            in: .backend,
            [
                "BSON", "CZlib", "Changesets", "Documents", "JSON", "Migration", "Query",
                "SchemaFiles", "Schemas", "Scopes", "ServerStore", "Versions",
            ]
        ),
        program(
            "realm-server",
            in: .backend,
            [
                "Changesets", "JSON", "Migration", "Platform", "PostgreSQLServerStore", "Query",
                "Scheduling", "SchemaFiles", "Scopes", "Server", "ServerConfig", "ServerConsole",
                "ServerHTTP", "ServerMigration", "ServerStorage", "ServerStore", "Settings",
                "Surroundings", "WorkDisplay", argumentParser, logging, serviceLifecycle,
                unixSignals,
            ]
        ),

        // Measurements of modules (Benchmarks/README.md).
        benchmark("CodecBenchmark", ["Changesets"]),
        benchmark("FanoutBenchmark", ["Changesets", "Documents", "Query", "Schemas"]),
        benchmark("MergeBenchmark", ["Changesets", "Merge"]),
        benchmark(
            "RealmBenchmark",
            ["Changesets", "LocalRealm", "SQLite", "Schemas", "Scopes", "Versions"]
        ),
        benchmark(
            "ViewBenchmark",
            [
                "Changesets", "Permissions", "Query", "SQLiteServerStore", "Schemas", "Scopes",
                "ServerStore", "Surroundings", "SyncProtocol", "SyncServer", "Transport",
                "Versions", logging,
            ]
        ),

        // Tests.
        .target(
            name: "TestSupport",
            dependencies: ["Changesets", "CZlib", "Documents", "SQLite", "Schemas"],
            path: "Tests/TestSupport",
            swiftSettings: settings
        ),
        .target(
            name: "ScriptedPeers",
            dependencies: ["Changesets", "SyncProtocol", "TestSupport", "Transport", "Versions"]
                + nio,
            path: "Tests/ScriptedPeers",
            swiftSettings: settings
        ),
        .target(
            name: "RealmFixtures",
            dependencies: [
                "AppServices", "Changesets", "Platform", "RealmSync", "Scheduling", "Scopes",
                "SyncClient", "SyncProtocol", "TestSupport", "Transport", logging,
            ],
            path: "Tests/RealmFixtures",
            swiftSettings: settings
        ),
        .target(
            name: "ServerFixtures",
            dependencies: [
                "Changesets", "JSON", "PostgreSQL", "PostgreSQLFixtures", "PostgreSQLServerStore",
                "Query", "SQLiteServerStore", "Schemas", "Scopes", "ServerCluster", "ServerStore",
                "Surroundings", "TestSupport", "Versions", logging,
            ],
            path: "Tests/ServerFixtures",
            swiftSettings: settings
        ),
        .target(name: "CFaultVFS", dependencies: ["CSQLite"], path: "Tests/CFaultVFS"),
        .target(
            name: "FaultInjection",
            dependencies: ["CFaultVFS"],
            path: "Tests/FaultInjection",
            swiftSettings: settings
        ),
        .target(
            name: "PostgreSQLFixtures",
            dependencies: ["CLinux", "PostgreSQL", "TestSupport"],
            path: "Tests/PostgreSQLFixtures",
            swiftSettings: settings
        ),
        tests("Architecture", []),
        tests(
            "Fuzz",
            [
                "BSON", "Changesets", "Config", "Control", "Documents", "LocalRealm", "Merge",
                "Migration", "Query", "SQLite", "Scheduling", "Schemas", "Scopes", "ServerAccounts",
                "ServerHTTP", "ServerStore", "Settings", "SyncProtocol", "Versions", "YAML",
            ],
            path: "Fuzz/Targets"  // Compiled by Fuzz/Package.swift, too.
        ),
        tests("Changesets", ["Changesets", "Documents"]),
        tests("Schemas", ["Changesets", "Schemas"]),
        tests("Documents", ["Changesets", "Documents", "Schemas"]),
        tests(
            "Query",
            [
                "Changesets", "Documents", "JSON", "PostgreSQL", "PostgreSQLFixtures", "Query",
                "QuerySQL", "SQLite", "Schemas",
            ]
        ),
        tests(
            "Permissions",
            ["Changesets", "Documents", "JSON", "Permissions", "Query", "Schemas"]
        ),
        tests("Merge", ["Changesets", "Documents", "Merge", "Schemas"]),
        tests(
            "ClientReset",
            [
                "Changesets", "ClientReset", "Documents", "Schemas", "ScriptedPeers",
                "SyncProtocol", "Versions",
            ]
        ),
        tests("Scopes", ["Changesets", "Scopes"]),
        tests("WorkDisplay", ["WorkDisplay"]),
        tests("Subscriptions", ["Changesets", "Schemas", "Subscriptions", "Versions"]),
        tests("Digests", ["Changesets", "Digests", "Documents", "Schemas", crypto]),
        tests("BSON", ["BSON", "Changesets"]),
        tests(
            "Migration",
            [
                "BSON", "Changesets", "Documents", "JSON", "Migration", "Permissions", "Query",
                "SchemaFiles", "Schemas", "Scopes", "ServerConfig", "ServerStore", "Settings",
            ]
        ),
        tests("Settings", ["Settings", "YAML"]),
        tests("SchemaFiles", ["Changesets", "SchemaFiles", "Schemas", "Settings"]),
        tests(
            "Config",
            [
                "Changesets", "Config", "Documents", "Query", "Scheduling", "SchemaFiles",
                "Schemas", "Scopes", "Settings", "YAML",
            ]
        ),
        tests(
            "ServerMigration",
            [
                "BSON", "Changesets", "Documents", "FaultInjection", "JSON", "Migration",
                "SQLiteServerStore", "SchemaFiles", "Schemas", "Scopes", "ServerFixtures",
                "ServerMigration", "ServerStore", "Versions",
            ]
        ),
        tests(
            "SyncProtocol",
            ["Changesets", "Query", "ScriptedPeers", "SyncProtocol", "Versions"]
        ),
        tests("SQLite", ["FaultInjection", "SQLite"]),
        tests("PostgreSQL", ["PostgreSQL", "PostgreSQLFixtures"]),
        tests(
            "PostgreSQLServerStore",
            [
                "Changesets", "JSON", "PostgreSQL", "PostgreSQLFixtures", "PostgreSQLServerStore",
                "Schemas", "Scopes", "ServerFixtures", "ServerStore", "Versions",
            ]
        ),
        tests(
            "LocalRealm",
            [
                "Changesets", "ClientReset", "Digests", "Documents", "FaultInjection", "LocalRealm",
                "Merge", "SQLite", "SchemaFiles", "Schemas", "Scopes", "Subscriptions", "Versions",
                subprocess,
            ]
        ),
        tests("Outbound", ["Outbound"] + nio),
        tests(
            "Transport",
            [
                "Outbound", "ScriptedPeers", "SyncProtocol", "Transport",
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ] + nio
        ),
        tests("AppServices", ["AppServices", "JSON", "Outbound", "ScriptedPeers", logging] + nio),
        tests("Platform", ["Platform", "Scheduling", logging]),
        tests(
            "Plugins",
            [
                "ClientReset", "Config", "Outbound", "Platform", "Plugins", "Programs",
                "Scheduling", "Settings", logging,
            ]
        ),
        tests(
            "Control",
            ["Control", "MetricsFormat", asyncHTTPClient, logging, serviceLifecycle, subprocess]
                + nio
        ),
        tests(
            "Agent",
            [
                "Agent", "AppServices", "Config", "Control", "Coordination", "LocalRealm",
                "Outbound", "Platform", "Plugins", "RealmFixtures", "RealmSync", "SQLite",
                "Scheduling", "Scopes", "Settings", "SyncClient", "SyncProtocol", "Transport",
                "Versions", logging,
            ]
        ),
        tests(
            "RealmSync",
            [
                "AppServices", "Changesets", "ClientReset", "Digests", "LocalRealm", "Platform",
                "RealmFixtures", "RealmSync", "SQLite", "Scheduling", "Schemas", "Scopes",
                "SyncClient", "SyncProtocol", "Versions",
            ]
        ),
        tests(
            "SyncClient",
            [
                "Changesets", "ClientReset", "Coordination", "FaultInjection", "LocalRealm",
                "SQLite", "Scheduling", "Schemas", "Scopes", "ScriptedPeers", "SyncClient",
                "SyncProtocol", "Transport", "Versions", logging,
            ]
        ),
        tests(
            "ServerMetrics",
            ["MetricsFormat", "ServerFixtures", "ServerMetrics", "ServerStore"]
        ),
        tests(
            "ServerStore",
            [
                "Changesets", "JSON", "Query", "Schemas", "Scopes", "ServerFixtures", "ServerStore",
                "Versions",
            ]
        ),
        tests(
            "SQLiteServerStore",
            [
                "Changesets", "FaultInjection", "SQLite", "SQLiteServerStore", "Scopes",
                "ServerFixtures", "ServerStore", "Versions",
            ]
        ),
        tests(
            "SyncServer",
            [
                "Changesets", "Documents", "JSON", "Merge", "Permissions", "Query",
                "SQLiteServerStore", "Schemas", "Scopes", "ServerFixtures", "ServerStore",
                "Surroundings", "SyncProtocol", "SyncServer", "Versions",
            ]
        ),
        tests(
            "ServerConfig",
            [
                "Changesets", "Documents", "JSON", "Permissions", "Query", "SchemaFiles", "Schemas",
                "Scopes", "Server", "ServerConfig", "ServerFixtures", "ServerStore", "Settings",
                "YAML",
            ]
        ),
        tests(
            "ServerCluster",
            [
                "PostgreSQL", "PostgreSQLFixtures", "PostgreSQLServerStore", "ServerCluster",
                "ServerFixtures", "ServerStore", "Surroundings", "Versions",
            ]
        ),
        tests(
            "ServerStorage",
            [
                "Changesets", "Documents", "PostgreSQL", "PostgreSQLFixtures",
                "PostgreSQLServerStore", "SQLite", "SQLiteServerStore", "Schemas", "Scopes",
                "ServerConfig", "ServerFixtures", "ServerStorage", "ServerStore", "Settings",
                "Versions",
            ]
        ),
        tests(
            "AsymmetricSink",
            ["AsymmetricSink", "Changesets", "Coordination", "Programs", logging]
        ),
        tests(
            "ServerAccounts",
            [
                "Changesets", "JSON", "Programs", "Scopes", "ServerAccounts", "ServerConfig",
                "ServerFixtures", "ServerStore",
            ]
        ),
        tests("ServerHTTP", ["ServerConfig", "ServerFixtures", "ServerHTTP", "ServerStore"]),
        tests(
            "Server",
            [
                "Changesets", "Coordination", "Digests", "Documents", "JSON", "Merge",
                "Permissions", "PostgreSQL", "PostgreSQLFixtures", "PostgreSQLServerStore", "Query",
                "SQLite", "SQLiteServerStore", "SchemaFiles", "Schemas", "Scopes", "Server",
                "ServerAccounts", "ServerCluster", "ServerConfig", "ServerFixtures", "ServerHTTP",
                "ServerStore", "Settings", "Surroundings", "SyncProtocol", "SyncServer",
                "Transport", "Versions", asyncHTTPClient, crypto, jwtKit, logging, serviceLifecycle,
            ] + nio
        ),
        tests(
            "Simulation",
            [
                "Agent", "AppServices", "Changesets", "ClientReset", "Config", "Control",
                "Documents", "FaultInjection", "JSON", "LocalRealm", "Merge", "Permissions",
                "Platform", "Query", "RealmSync", "SQLite", "SQLiteServerStore", "Scheduling",
                "Schemas", "Scopes", "Server", "ServerAccounts", "ServerConfig", "ServerHTTP",
                "ServerStore", "Settings", "Subscriptions", "Surroundings", "SyncClient",
                "SyncProtocol", "SyncServer", "Transport", "Versions", logging,
            ]
        ),
        tests(
            "MonitoringFiles",
            ["Control", "ServerFixtures", "ServerMetrics", "ServerStore", subprocess]
        ),
        tests(
            "EndToEnd",
            [
                "Agent", "Changesets", "Config", "Control", "Documents", "FaultInjection",
                "Outbound", "Platform", "PostgreSQL", "PostgreSQLFixtures", "SQLite",
                "ScriptedPeers", "SyncProtocol", "Transport", "Versions", subprocess,
            ] + nio
        ),
    ]
        + ["ConsolePages", "Coordination", "JSON", "MetricsFormat", "Scheduling", "YAML"]
        .map { tests($0, [.byName(name: $0)]) },
    swiftLanguageModes: [.v6]
)

// MARK: A part

/// With `REALM_TESTS="SQLiteTests MergeTests"` only these tests, none of which may need another package, and their
/// modules: they compile within minutes under a sanitizer (`make sanitize-bytes`).
if let names = Context.environment["REALM_TESTS"] {
    let targets = Dictionary(uniqueKeysWithValues: package.targets.map { ($0.name, $0) })
    var needed: Set<String> = []

    func add(_ name: String) {
        guard needed.insert(name).inserted, let target = targets[name] else { return }
        for case .byNameItem(let dependency, _) in target.dependencies { add(dependency) }
    }

    for name in names.split(separator: " ") { add(String(name)) }
    package.targets = package.targets.filter { needed.contains($0.name) }
    package.products = []
    package.dependencies = []
}
