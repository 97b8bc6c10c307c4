package import ServerConfig
import Synchronization

/// The server's address for clients; nil: the one that they used.
package final class PublicAddress: Sendable {
    private let value: Mutex<PublicURL?>

    package init(_ url: PublicURL?) {
        self.value = Mutex(url)
    }

    package var url: PublicURL? {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}
