import Hummingbird
import NIOCore

/// What a request of the control API comes with: the connection, which knows who is at its other end.
struct ControlContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: Source) {
        self.coreContext = .init(source: source)
        self.channel = source.channel
    }
}
