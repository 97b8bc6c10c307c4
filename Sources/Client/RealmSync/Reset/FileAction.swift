import FoundationEssentials

/// An action on a realm's file before it is next opened: the file is archived, and the realm starts
/// over (client reset, 11.2).
///
/// Kept in the register of realms, not in the file; at most one for each realm.
package struct FileAction: Codable, Equatable, Sendable {
    /// Path of the archived file.
    let recoveryPath: String
    /// Carries the action out at once when it is given back.
    let token: String
    /// The word for the cause, and the cause for people.
    let code: String
    let reason: String
    /// The mode of client resets that caused the action; another mode means a new decision of the
    /// owner. Nil if the server demands the removal, in every mode.
    let mode: String?
}

extension FileAction {
    /// The form in the register.
    var text: String {
        let data = (try? JSONEncoder().encode(self)) ?? Data()
        return String(decoding: data, as: UTF8.self)
    }

    /// Nil for an unknown form of an earlier or later version.
    init?(text: String) {
        guard let action = try? JSONDecoder().decode(FileAction.self, from: Data(text.utf8)) else {
            return nil
        }
        self = action
    }
}
