import Hummingbird
import NIOCore

/// The context of a control API request: its connection, which knows the peer's credentials.
struct ControlContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: Source) {
        self.coreContext = .init(source: source)
        self.channel = source.channel
    }
}
