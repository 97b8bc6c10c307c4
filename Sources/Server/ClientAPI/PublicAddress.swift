import Synchronization

/// Where clients are told to reach the server; nil: where they asked.
package final class PublicAddress: Sendable {
    private let value: Mutex<PublicURL?>

    package init(_ url: PublicURL?) {
        self.value = Mutex(url)
    }

    var url: PublicURL? {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}
