// swift-tools-version: 6.2
import PackageDescription

// The pure modules once more, from the same sources (`Sources` is a symbolic link), with the counters of
// libFuzzer in them. ArchitectureTests compares the arrows with those of the package.

let settings: [SwiftSetting] = [
    .unsafeFlags(["-sanitize=fuzzer", "-parse-as-library"]),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

func module(_ name: String, in group: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(
        name: name,
        dependencies: dependencies,
        path: "Sources/\(group)\(name)",
        swiftSettings: settings
    )
}

func library(_ name: String, _ pkgConfig: String) -> Target {
    .systemLibrary(name: name, path: "Sources/System/\(name)", pkgConfig: pkgConfig)
}

let package = Package(
    name: "fuzz",
    targets: [
        library("CYAML", "yaml-0.1"),
        library("CZlib", "zlib"),
        module("BSON", in: "Core/", ["Changesets", "Documents", "JSON", "Schemas"]),
        module("Changesets", in: "Core/"),
        module(
            "Config",
            in: "",
            [
                "Changesets", "JSON", "Query", "Scheduling", "SchemaFiles", "Schemas", "Scopes",
                "Settings", "YAML",
            ]
        ),
        module("Documents", in: "Core/", ["Changesets", "JSON", "Schemas"]),
        module("JSON", in: "Core/"),
        module("Merge", in: "Core/", ["Changesets"]),
        module("Query", in: "Core/", ["Changesets", "Documents", "JSON", "Schemas"]),
        module("Scheduling", in: "Core/"),
        module(
            "SchemaFiles",
            in: "Core/",
            ["Changesets", "Documents", "JSON", "Schemas", "Settings", "YAML"]
        ),
        module("Schemas", in: "Core/", ["Changesets"]),
        module("Scopes", in: "Core/", ["Changesets", "JSON"]),
        module(
            "ServerStore",
            in: "Backend/",
            ["Changesets", "JSON", "Query", "Schemas", "Scopes", "Versions"]
        ),
        module("Settings", in: "Core/", ["JSON", "YAML"]),
        module("SyncProtocol", in: "Core/", ["Changesets", "CZlib", "JSON", "Versions"]),
        module("Versions", in: "Core/"),
        module("YAML", in: "Core/", ["CYAML"]),
        .target(
            name: "FuzzTargets",
            dependencies: [
                "BSON", "Changesets", "Config", "Documents", "Merge", "Query", "Scheduling",
                "Schemas", "ServerStore", "Settings", "SyncProtocol", "Versions", "YAML",
            ],
            path: "Targets",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "fuzz",
            dependencies: ["FuzzTargets"],
            path: "Driver",
            swiftSettings: settings,
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])]
        ),
    ],
    swiftLanguageModes: [.v6]
)
