import Changesets

/// Changesets in the notation of the specification's examples, one instruction after the other:
///
///     EraseObject 1; CreateObject 1; Update x=1; Update l[1]=9 prior 3; ArrayMove l[0]->2 prior 3
///
/// A place is `field`, `field[index]`, `field.key` and so on, in object 1 of class C unless it is
/// prefixed with a key (`7.x`) or with class and key (`D:1.x`). Values are numbers, `"strings"`, `2.5`,
/// `NaN`, `Decimal:1.0` as coefficient and exponent (`Decimal:10E-1`), `Link:D:pk` and the markers
/// Null, ObjectValue, Dictionary, List, Set and Erased. `default` at the end marks a default.
enum Notation {
    static func changeset(_ text: String) -> Changeset {
        var parser = NotationParser()
        let lines = text.split(separator: ";").map { $0.split(separator: " ") }
        let instructions = lines.filter { !$0.isEmpty }.map { parser.instruction($0) }
        let changeset = Changeset(strings: parser.strings, instructions: instructions)
        // Only a decoded changeset knows the buffer offsets of its strings.
        guard let decoded = try? Changeset(decoding: changeset.encoded()) else {
            preconditionFailure("notation does not encode: \(text)")
        }
        return decoded
    }

    static func text(of changeset: Changeset) -> String {
        changeset.instructions.map { NotationPrinter(changeset: changeset).text(of: $0) }
            .joined(separator: "; ")
    }
}
