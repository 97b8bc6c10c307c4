/// The configuration shared by all machines of the simulation.
enum SimulatedApp {
    static let id = "shop-abcde"
    static let userID = "5f63e882536d46e471877901"
    /// As canonical Extended JSON.
    static let partition = #""store-42""#
    static let tokenLifetimeInMilliseconds: Int64 = 20_000
}
