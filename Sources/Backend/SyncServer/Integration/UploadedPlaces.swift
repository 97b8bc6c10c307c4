import Changesets
import Merge

/// The places that uploads touch: they find the history that may have to be merged with.
final class UploadedPlaces {
    /// Whether they only add classes and properties. They can only meet schema instructions.
    let isSchemaOnly: Bool
    /// Most uploads have no history to compare with.
    private(set) lazy var touched = find()
    private let find: () -> TouchedPlaces

    init(of operands: [MergeOperand]) {
        self.isSchemaOnly = operands.allSatisfy(\.changeset.addsSchemaOnly)
        self.find = { TouchedPlaces(of: operands) }
    }

    /// Plain ones are not decoded for it.
    init(of changesets: [ReceivedChangeset]) {
        self.isSchemaOnly = changesets.allSatisfy {
            $0.plain == nil && $0.changeset.addsSchemaOnly
        }
        self.find = {
            var places = TouchedPlaces()
            for changeset in changesets {
                if let plain = changeset.plain {
                    places.insert(plain)
                } else {
                    places.insert(changeset.changeset)
                }
            }
            return places
        }
    }
}

extension Changeset {
    fileprivate var addsSchemaOnly: Bool {
        instructions.allSatisfy { instruction in
            switch instruction {
            case .addTable, .addColumn: true
            default: false
            }
        }
    }
}
