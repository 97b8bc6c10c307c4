/// The settings of flexible sync for a session.
struct FlexibleContext: Sendable {
    let settings: FlexibleSettings
    let isDevelopmentMode: Bool
}
