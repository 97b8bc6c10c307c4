/// A row of client reset, 7.6: both sides start with links to 1, 2 and 3; 4 and 5 exist, too.
struct ResetScenario {
    let local: String
    let remote: String
    /// Nil: the owner is gone.
    let list: [Int]?
    /// Of the set and the dictionary; rows about positions have none.
    let bag: Set<Int>?
    let isListOnly: Bool

    private init(_ local: String, _ remote: String, _ list: [Int]?) {
        self.init(local, remote, list, list.map(Set.init))
    }

    private init(_ local: String, _ remote: String, _ list: [Int]?, _ bag: Set<Int>?) {
        (self.local, self.remote, self.list, self.bag) = (local, remote, list, bag)
        isListOnly = false
    }

    private init(listOnly local: String, _ remote: String, _ list: [Int]) {
        (self.local, self.remote, self.list, bag) = (local, remote, list, nil)
        isListOnly = true
    }

    static let all = [
        ResetScenario("", "-3 -2 -1", []),
        ResetScenario("-3 -2 -1", "", []),
        ResetScenario("-3 -2 -1", "-3 -2 -1", []),
        ResetScenario("-1", "-3", [2, 3], [2]),
        ResetScenario("+4", "", [1, 2, 3, 4]),
        ResetScenario("+4", "+5 -5 +5", [1, 2, 3, 4, 5]),
        ResetScenario("+4", "+4", [1, 2, 3, 4, 4]),
        ResetScenario("+4 -4", "+5 -5 +5", [1, 2, 3, 5]),
        ResetScenario("+4", "+5 -5", [1, 2, 3, 4]),
        ResetScenario("-2", "+4 +5", [1, 3], [1, 3, 4, 5]),
        ResetScenario("+4", "del4", [1, 2, 3]),
        ResetScenario("clear", "", []),
        ResetScenario("", "clear", []),
        ResetScenario("clear +1", "clear +2", [1]),
        ResetScenario("clear +1 -1 +2 +3", "clear +1 -1 +2 +3", [2, 3]),
        ResetScenario("+4 del4", "+4 +5", [1, 2, 3, 5]),
        ResetScenario("del4", "+4 +5", [1, 2, 3, 5]),
        ResetScenario("del1 del2 new6 +6", "", [3, 6]),
        ResetScenario("+4 +5 new6 +6", "del4 del5", [1, 2, 3, 6]),
        ResetScenario("+4 owner- owner+ +1", "owner-", [1]),
        ResetScenario("+4 owner-", "+5", nil),
        ResetScenario("-1", "owner-", nil),
        ResetScenario(listOnly: "move0>1 +5", "+4", [2, 1, 3, 5]),
        ResetScenario(listOnly: "move0>1 +5", "+4 del1", [2, 3, 5]),
        // In the table [1, 2, 3]: the move has the local list win. But SQL cannot say that one of two
        // equal elements was moved, and what was only added leaves the server's 4 alone.
        ResetScenario(listOnly: "+5 +5 move4>3", "+4 del5", [1, 2, 3, 4]),
        ResetScenario(listOnly: "+4 +5 move3>4", "move0>1", [2, 1, 3, 5, 4]),
        ResetScenario(listOnly: "+4 +5 move3>4", "+1 +2", [1, 2, 3, 5, 4, 1, 2]),
        ResetScenario(listOnly: "+4 +5 move3>4", "-1 -2", [3, 5, 4]),
        ResetScenario(listOnly: "+4 +5 move4>3", "-1 -2", [3, 5, 4]),
        ResetScenario(listOnly: "+4 +5 move3>4 -5", "-1 -2", [3, 4]),
        ResetScenario(listOnly: "new6 +5 +6 4@4 -4 +1", "4@0 del5", [4, 1, 2, 3, 6, 1]),
        ResetScenario(listOnly: "+5 1@0 del4", "+4 3@3 del5", [1, 1, 2, 3, 3]),
    ]
}

/// One side of a scenario as SQL: three owners, one for each kind of collection, with things of their own.
struct ResetScenarioScript {
    private let base: Int
    private var list = [1, 2, 3]
    private var bag = [1, 2, 3]
    private var map: [Int: Int?] = [1: 1, 2: 2, 3: 3]

    init(number: Int) {
        base = (number + 1) * 100
    }

    private var listOwner: Int { base + 1 }
    private var bagOwner: Int { base + 2 }
    private var mapOwner: Int { base + 3 }
    private var owners: [Int] { [listOwner, bagOwner, mapOwner] }

    var start: [String] {
        (1...5).map { "INSERT INTO Thing(_id) VALUES (\(base + $0));" }
            + owners.map { "INSERT INTO Owner(_id) VALUES (\($0));" } + contents
    }

    /// Statements that set all collections to what they are now.
    private var contents: [String] {
        func text(_ things: [Int]) -> String {
            "[" + things.map { "\(base + $0)" }.joined(separator: ",") + "]"
        }
        let members = map.sorted { $0.key < $1.key }.map { key, thing in
            "\"k\(key)\":" + (thing.map { "\(base + $0)" } ?? "null")
        }
        return [
            "UPDATE Owner SET list = '\(text(list))' WHERE _id = \(listOwner);",
            "UPDATE Owner SET bag = '\(text(bag))' WHERE _id = \(bagOwner);",
            "UPDATE Owner SET map = '{\(members.joined(separator: ","))}' WHERE _id = \(mapOwner);",
        ]
    }

    mutating func perform(_ step: String) -> [String] {
        let numbers = step.split { !$0.isNumber }.compactMap { Int($0) }
        let thing = numbers.first ?? 0
        switch step {
        case "clear":
            (list, bag, map) = ([], [], [:])
        case "owner-":
            (list, bag, map) = ([], [], [:])
            return owners.map { "DELETE FROM Owner WHERE _id = \($0);" }
        case "owner+":
            return owners.map { "INSERT INTO Owner(_id) VALUES (\($0));" }
        case _ where step.hasPrefix("new"):
            return ["INSERT INTO Thing(_id) VALUES (\(base + thing));"]
        case _ where step.hasPrefix("del"):
            // The agent takes the links to it away.
            list.removeAll { $0 == thing }
            bag.removeAll { $0 == thing }
            for key in map.keys where map[key] == .some(thing) { map[key] = .some(nil) }
            return ["DELETE FROM Thing WHERE _id = \(base + thing);"]
        case _ where step.hasPrefix("move"):
            list.insert(list.remove(at: numbers[0]), at: numbers[1])
        case _ where step.hasPrefix("+"):
            list.append(thing)
            if !bag.contains(thing) { bag.append(thing) }
            map[thing] = thing
        case _ where step.hasPrefix("-"):
            if let index = list.firstIndex(of: thing) { list.remove(at: index) }
            bag.removeAll { $0 == thing }
            map[thing] = nil
        default:
            list.insert(thing, at: numbers[1])
        }
        return contents
    }

    /// The list in its order, the set, and the dictionary's values that are not null.
    func query(_ scenario: ResetScenario) -> String {
        let list = "SELECT list FROM Owner WHERE _id = \(listOwner);"
        guard !scenario.isListOnly else { return list }
        return list + """
            SELECT (SELECT group_concat(value) FROM (SELECT value FROM json_each(bag) ORDER BY value))
              FROM Owner WHERE _id = \(bagOwner);
            SELECT (SELECT group_concat(value) FROM
              (SELECT value FROM json_each(map) WHERE type <> 'null' ORDER BY value))
              FROM Owner WHERE _id = \(mapOwner);
            """
    }

    func expected(_ scenario: ResetScenario) -> [String] {
        guard let list = scenario.list else { return [] }
        let text = "[" + list.map { "\(base + $0)" }.joined(separator: ",") + "]"
        guard let bag = scenario.bag else { return [text] }
        let values = bag.sorted().map { "\(base + $0)" }.joined(separator: ",")
        return [text, values, values]
    }
}
