import FoundationEssentials

/// What happens to a realm's file before it is opened the next time: it is kept as a copy, and the
/// realm starts over (client reset, 11.2).
///
/// Kept in the register of realms, not in the file, and only one for each realm.
package struct FileAction: Codable, Equatable, Sendable {
    /// Where the file is kept.
    let recoveryPath: String
    /// Carries the action out at once when it is given back.
    let token: String
    /// The word for the cause, and the cause for people.
    let code: String
    let reason: String
    /// The mode of client resets that led here: with another one the owner has decided otherwise.
    /// Nil where the server wants the file gone, whatever the mode.
    let mode: String?
}

extension FileAction {
    /// As the register stores it.
    var text: String {
        let data = (try? JSONEncoder().encode(self)) ?? Data()
        return String(decoding: data, as: UTF8.self)
    }

    /// Nil for what an earlier or later version has written otherwise.
    init?(text: String) {
        guard let action = try? JSONDecoder().decode(FileAction.self, from: Data(text.utf8)) else {
            return nil
        }
        self = action
    }
}
