import Changesets

/// Converting instructions to operations.
extension Operation {
    /// - Parameter table: the symbols of the changeset's string table.
    init(
        _ instruction: Instruction,
        origin: Origin,
        stamp: Stamp,
        table: [Symbol],
        symbols: inout Symbols
    ) {
        let reader = InstructionReader(
            kind: instruction.code,
            origin: origin,
            stamp: stamp,
            table: table
        )
        switch instruction {
        case .addTable(let table):
            self = reader.schema(table.className, detail: .table(reader.shape(table.kind)))
        case .eraseTable(let className):
            self = reader.schema(className)
        case .addColumn(let column):
            self = reader.schema(
                column.className,
                column.field,
                detail: .column(reader.shape(column))
            )
        case .eraseColumn(let className, let field):
            self = reader.schema(className, field)
        case .createObject(let target), .eraseObject(let target):
            self = reader.object(target, &symbols)
        case .update(let update):
            let content = reader.content(update.payload, &symbols)
            switch update.detail {
            case .isDefault(let isDefault):
                self = reader.path(
                    update.target,
                    .update(content, isDefault: isDefault),
                    &symbols
                )
            case .priorSize(let priorSize):
                self = reader.path(
                    update.target,
                    .update(content, isDefault: false),
                    priorSize: priorSize,
                    &symbols
                )
            }
        case .addInteger(let target, let amount):
            self = reader.path(target, .addInteger(amount), &symbols)
        case .arrayInsert(let target, let payload, let priorSize):
            let content = reader.content(payload, &symbols)
            self = reader.path(target, .element(content), priorSize: priorSize, &symbols)
        case .arrayMove(let target, let destination, let priorSize):
            self = reader.path(
                target,
                .none,
                destination: destination,
                priorSize: priorSize,
                &symbols
            )
        case .arrayErase(let target, let priorSize):
            self = reader.path(target, .none, priorSize: priorSize, &symbols)
        case .clear(let target, let collection):
            self = reader.path(target, .clear(collection), &symbols)
        case .setInsert(let target, let payload):
            self = reader.path(target, .element(reader.content(payload, &symbols)), &symbols)
        case .setErase(let erase):
            let content = reader.content(erase.payload, offset: erase.bufferOffset, &symbols)
            self = reader.path(erase.target, .element(content), &symbols)
        }
    }

    /// The EraseColumn that rule 4 puts before an EraseTable, with the stamp of the latter.
    init(erasingColumnOf column: Operation, before eraseTable: Operation) {
        var origin = eraseTable.origin
        origin.isPrepended = true
        self.init(
            origin: origin,
            stamp: eraseTable.stamp,
            kind: .eraseColumn,
            level: 2,
            place: column.place
        )
    }
}

/// Reads the parts of one instruction with its changeset's table.
private struct InstructionReader {
    let kind: InstructionCode
    let origin: Operation.Origin
    let stamp: Stamp
    let table: [Symbol]

    func symbol(_ index: InternIndex) -> Symbol {
        table[Int(index.rawValue)]
    }

    func schema(
        _ className: InternIndex,
        _ field: InternIndex? = nil,
        detail: Operation.Detail = .none
    ) -> Operation {
        Operation(
            origin: origin,
            stamp: stamp,
            kind: kind,
            level: field == nil ? 1 : 2,
            place: .init(className: symbol(className), field: field.map(symbol) ?? .none),
            detail: detail
        )
    }

    func object(_ target: Instruction.ObjectTarget, _ symbols: inout Symbols) -> Operation {
        Operation(
            origin: origin,
            stamp: stamp,
            kind: kind,
            level: 2,
            place: .init(
                className: symbol(target.className),
                object: symbols.object(target.className, target.key, in: table)
            )
        )
    }

    func path(
        _ target: Instruction.PathTarget,
        _ detail: Operation.Detail,
        destination: UInt32 = 0,
        priorSize: UInt32 = 0,
        _ symbols: inout Symbols
    ) -> Operation {
        let end: Operation.PathEnd =
            switch target.path.last {
            case nil: .none
            case .index: .index
            case .string(let index): .string(symbol(index))
            }
        return Operation(
            origin: origin,
            stamp: stamp,
            kind: kind,
            level: 3 + target.path.count,
            place: .init(
                className: symbol(target.object.className),
                object: symbols.object(target.object.className, target.object.key, in: table),
                field: symbol(target.field)
            ),
            container: target.path.count > 1 ? target.path.dropLast().map(step) : [],
            end: end,
            index: target.index ?? 0,
            destination: destination,
            priorSize: priorSize,
            detail: detail
        )
    }

    private func step(_ element: PathElement) -> Operation.Step {
        switch element {
        case .index(let index): .index(index)
        case .string(let index): .string(symbol(index))
        }
    }

    func content(
        _ payload: Payload,
        offset: UInt64 = 0,
        _ symbols: inout Symbols
    ) -> Content {
        var linkedObject = ObjectNumber.none
        if case .link(let className, let key) = payload {
            linkedObject = symbols.object(className, key, in: table)
        }
        return Content(payload: payload, linkedObject: linkedObject, bufferOffset: offset)
    }

    func shape(_ kind: Instruction.AddTable.Kind) -> Operation.TableShape {
        switch kind {
        case .embedded:
            .init(kind: .embedded, keyField: .none, keyType: nil, isKeyNullable: false)
        case .topLevel(let column):
            shape(.topLevel, column)
        case .asymmetric(let column):
            shape(.asymmetric, column)
        }
    }

    private func shape(
        _ kind: Operation.TableShape.Kind,
        _ column: Instruction.AddTable.PrimaryKeyColumn
    ) -> Operation.TableShape {
        .init(
            kind: kind,
            keyField: symbol(column.field),
            keyType: column.type,
            isKeyNullable: column.isNullable
        )
    }

    func shape(_ column: Instruction.AddColumn) -> Operation.ColumnShape {
        .init(
            type: column.type,
            isNullable: column.isNullable,
            collection: column.collection,
            linkTarget: column.linkTarget.map(symbol) ?? .none
        )
    }
}
