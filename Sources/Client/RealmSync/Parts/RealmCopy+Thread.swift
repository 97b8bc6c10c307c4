import Coordination
package import LocalRealm

extension RealmCopy {
    /// Copying takes as long as the file is large: it has a thread of its own.
    package func makeOnThread(
        from source: String,
        to destination: String
    ) async throws(LocalRealmError) -> Report {
        try await BlockingCall.run(label: "copy") { () throws(LocalRealmError) in
            try make(from: source, to: destination)
        }
    }
}
