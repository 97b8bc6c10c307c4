// swift-tools-version: 6.2
import PackageDescription

// The modules that read bytes once more, from the same sources (`Sources` is a symbolic link), with the counters of
// libFuzzer in them. ArchitectureTests compares the arrows with those of the package. Modules with a network are
// compiled in part: the files that read bodies.

/// With `REALM_FUZZ_ADDRESS=1` the address sanitizer looks on (`make fuzz-replay`).
let sanitizers =
    Context.environment["REALM_FUZZ_ADDRESS"] == nil
    ? "-sanitize=fuzzer" : "-sanitize=fuzzer,address"

let settings: [SwiftSetting] = [
    .unsafeFlags([sanitizers, "-parse-as-library", "-enable-testing"]),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

func module(
    _ name: String,
    in group: String,
    _ dependencies: [Target.Dependency] = [],
    without excluded: [String] = []
) -> Target {
    .target(
        name: name,
        dependencies: dependencies,
        path: "Sources/\(group)\(name)",
        exclude: excluded,
        swiftSettings: settings
    )
}

func part(
    _ name: String,
    in group: String,
    _ dependencies: [Target.Dependency] = [],
    _ sources: [String]
) -> Target {
    .target(
        name: name,
        dependencies: dependencies,
        path: "Sources/\(group)\(name)",
        sources: sources,
        swiftSettings: settings
    )
}

func library(_ name: String, _ pkgConfig: String) -> Target {
    .systemLibrary(name: name, path: "Sources/System/\(name)", pkgConfig: pkgConfig)
}

let package = Package(
    name: "fuzz",
    targets: [
        library("CSQLite", "sqlite3"),
        library("CYAML", "yaml-0.1"),
        library("CZlib", "zlib"),
        module("CLinux", in: "System/"),
        module("BSON", in: "Core/", ["Changesets", "Documents", "JSON", "Schemas"]),
        module("Changesets", in: "Core/"),
        module("ClientReset", in: "Core/", ["Changesets", "Documents", "Schemas", "Versions"]),
        module(
            "Config",
            in: "",
            [
                "Changesets", "JSON", "Query", "Scheduling", "SchemaFiles", "Schemas", "Scopes",
                "Settings", "YAML",
            ]
        ),
        part(
            "Control",
            in: "Client/",
            [],
            [
                "AgentEvent.swift", "ControlError.swift", "CopyLine.swift", "JSONBody.swift",
                "LogReport.swift",
                "RealmFileOperations.swift", "RealmOperations.swift", "ResetResponse.swift",
                "StatusReport.swift",
                "SubscriptionsReport.swift", "SyncReport.swift", "UserKeysReport.swift",
                "UserReport.swift", "VerificationReport.swift",
            ]
        ),
        module("Coordination", in: "System/"),
        module("Digests", in: "Core/", ["Changesets", "Documents", "Schemas"]),
        module("Documents", in: "Core/", ["Changesets", "JSON", "Schemas"]),
        module("JSON", in: "Core/"),
        module(
            "LocalRealm",
            in: "Client/",
            [
                "CLinux", "Changesets", "ClientReset", "Coordination", "Digests", "Documents",
                "Merge", "Query", "SQLite", "Schemas", "Scopes", "Subscriptions", "Versions",
            ],
            without: ["Comparison"]
        ),
        module("Merge", in: "Core/", ["Changesets"]),
        module(
            "Migration",
            in: "Core/",
            [
                "BSON", "Changesets", "Documents", "JSON", "SchemaFiles", "Schemas", "Scopes",
                "Settings", "YAML",
            ]
        ),
        module("Query", in: "Core/", ["Changesets", "Documents", "JSON", "Schemas"]),
        module("Scheduling", in: "Core/"),
        module(
            "SchemaFiles",
            in: "Core/",
            ["Changesets", "Documents", "JSON", "Schemas", "Settings", "YAML"]
        ),
        module("Schemas", in: "Core/", ["Changesets"]),
        module("Scopes", in: "Core/", ["Changesets", "JSON"]),
        part(
            "ServerAccounts",
            in: "Backend/",
            ["JSON", "ServerStore"],
            [
                "Accounts/APIKeySecret.swift", "Accounts/DeviceReport.swift",
                "Accounts/EmailPasswordCredential.swift",
                "Accounts/LoginCredential.swift", "Accounts/ResetCall.swift",
            ]
        ),
        part(
            "ServerHTTP",
            in: "Backend/",
            ["JSON", "ServerAccounts", "ServerStore"],
            [
                "ClientAPI/ClientAPIRequest.swift", "ClientAPI/ClientRoute.swift",
                "ClientAPI/RequestBodies.swift",
                "ClientAPI/ServiceRefusal.swift",
            ]
        ),
        module(
            "ServerStore",
            in: "Backend/",
            ["Changesets", "JSON", "Query", "Schemas", "Scopes", "Versions"]
        ),
        module("Settings", in: "Core/", ["JSON", "YAML"]),
        module("SQLite", in: "System/", ["CLinux", "CSQLite", "Coordination"]),
        module("Subscriptions", in: "Core/", ["Changesets", "Query", "Schemas", "Versions"]),
        module("SyncProtocol", in: "Core/", ["Changesets", "CZlib", "JSON", "Versions"]),
        module("Versions", in: "Core/"),
        module("YAML", in: "Core/", ["CYAML"]),
        .target(
            name: "FuzzTargets",
            dependencies: [
                "BSON", "Changesets", "Config", "Control", "Documents", "LocalRealm", "Merge",
                "Migration", "Query",
                "SQLite", "Scheduling", "Schemas", "Scopes", "ServerAccounts", "ServerHTTP",
                "ServerStore", "Settings",
                "SyncProtocol", "Versions", "YAML",
            ],
            path: "Targets",
            exclude: ["ReplayTests.swift"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "fuzz",
            dependencies: ["FuzzTargets"],
            path: "Driver",
            swiftSettings: settings,
            linkerSettings: [.unsafeFlags([sanitizers, "-use-ld=lld"])]
        ),
    ],
    swiftLanguageModes: [.v6]
)
