import ServerAccounts
import ServerStore

/// The body of `POST sync/growth`, by a tool that writes to the store of this server.
package struct GrowthReport: Codable, Sendable {
    /// Ids of server files whose history may have grown.
    package let files: [Int64]

    package init(files: [Int64]) {
        self.files = files
    }

    /// More are refused.
    static let mostFiles = 100_000
}

extension AdminAPI {
    /// Tells the sessions of these files.
    func noteGrowth(_ report: GrowthReport, of app: AppID) async throws {
        _ = try accounts.served(app)
        guard report.files.count <= GrowthReport.mostFiles else {
            throw ServiceRefusal(.badRequest, "more than \(GrowthReport.mostFiles) files")
        }
        let files = try await accounts.store.read { snapshot in
            try report.files.compactMap { try snapshot.file(ServerFileID($0)) }
        }
        for file in files where file.app == app {
            accounts.backplane.announce(file.currentVersion, of: file.id)
        }
    }
}
