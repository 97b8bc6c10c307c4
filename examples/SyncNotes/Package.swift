// swift-tools-version: 6.2
import PackageDescription

// A program of its own that uses the library. Elsewhere the dependency is
// `.package(url: "…", from: "…")` instead of a path.
let package = Package(
    name: "SyncNotes",
    dependencies: [.package(name: "realm-agent", path: "../..")],
    targets: [
        .executableTarget(
            name: "SyncNotes",
            dependencies: [.product(name: "RealmSync", package: "realm-agent")]
        )
    ]
)
