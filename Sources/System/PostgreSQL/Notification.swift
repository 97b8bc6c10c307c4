/// A message that NOTIFY sent on a channel that the connection listens to.
package struct Notification: Hashable, Sendable {
    package let channel: String
    package let payload: String
    /// The process of the server that sent it: `backendID` of the sender's connection.
    package let sender: Int32
}
