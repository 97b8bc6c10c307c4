import Changesets

extension Instruction {
    /// The value that the instruction stores.
    var storedPayload: Payload? {
        switch self {
        case .update(let update): update.payload
        case .arrayInsert(_, let payload, _), .setInsert(_, let payload): payload
        default: nil
        }
    }

    /// The same instruction with another path, in a list of that size.
    func moved(to path: [PathElement], size: UInt32?) -> Instruction {
        func move(_ target: PathTarget) -> PathTarget {
            PathTarget(object: target.object, field: target.field, path: path)
        }
        switch self {
        case .addTable, .eraseTable, .createObject, .eraseObject, .addColumn, .eraseColumn:
            return self
        case .update(let update):
            let detail = size.map { Update.Detail.priorSize($0) } ?? update.detail
            return .update(
                Update(target: move(update.target), payload: update.payload, detail: detail)
            )
        case .addInteger(let target, let amount):
            return .addInteger(move(target), amount: amount)
        case .arrayInsert(let target, let payload, let old):
            return .arrayInsert(move(target), payload, priorSize: size ?? old)
        case .arrayMove(let target, let to, let old):
            return .arrayMove(move(target), to: to, priorSize: size ?? old)
        case .arrayErase(let target, let old):
            return .arrayErase(move(target), priorSize: size ?? old)
        case .clear(let target, let collection):
            return .clear(move(target), collection)
        case .setInsert(let target, let payload):
            return .setInsert(move(target), payload)
        case .setErase(let erase):
            return .setErase(
                SetErase(
                    target: move(erase.target),
                    payload: erase.payload,
                    bufferOffset: erase.bufferOffset
                )
            )
        }
    }
}
