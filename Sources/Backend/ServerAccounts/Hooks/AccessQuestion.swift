import FoundationEssentials
import JSON
import Scopes
import ServerStore

/// A question for the program that decides on access: may this user read, and write, this partition?
struct AccessQuestion: Sendable {
    let user: User
    /// The user's own object, without type tags; nil if there is none.
    let customData: JSONValue?
    let partition: Partition

    /// The line for the program, with its line break.
    func line(_ number: Int, of app: AppID) throws -> [UInt8] {
        var asked: [String: JSONValue] = [
            "id": .string(user.id.rawValue), "type": .string(user.kind.rawValue),
            "data": .object(user.profileData),
        ]
        if let customData { asked["custom_data"] = customData }
        let value = try JSONDecoder().decode(
            JSONValue.self,
            from: Data(partition.canonicalText.utf8)
        )
        let line = JSONValue.object([
            "version": .integer(1), "kind": .string("access"), "app": .string(app.rawValue),
            "id": .integer(Int64(number)), "user": .object(asked), "partition": value,
        ])
        return try line.json() + [UInt8(ascii: "\n")]
    }
}

/// The program's answers: a JSON line for each question, in any order.
enum AccessDecisions {
    private struct Answer: Decodable {
        let id: Int
        let read: Bool
        let write: Bool
    }

    /// Decisions in the order of the questions; nil if the output is anything else than one answer to each of
    /// them, since then nothing in it can be relied on.
    static func read(_ output: [UInt8], count: Int) -> [PartitionAccess]? {
        let lines = output.split(separator: UInt8(ascii: "\n"))
            .filter { !$0.allSatisfy { [0x20, 0x09, 0x0d].contains($0) } }
        guard lines.count == count else { return nil }
        var decisions = [PartitionAccess?](repeating: nil, count: count)
        for line in lines {
            guard let answer = try? JSONDecoder().decode(Answer.self, from: Data(line)),
                (1...count).contains(answer.id), decisions[answer.id - 1] == nil
            else { return nil }
            decisions[answer.id - 1] = PartitionAccess(
                mayRead: answer.read,
                mayWrite: answer.write
            )
        }
        return decisions.compactMap(\.self)
    }
}
