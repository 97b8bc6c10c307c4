import CYAML

/// One step through a document, as reported by libyaml.
struct Event {
    let location: TextLocation
    let kind: Kind

    enum Kind {
        case streamStart, streamEnd, documentStart, documentEnd, sequenceEnd, mappingEnd
        case alias(anchor: String)
        case scalar(YAMLScalar, Properties)
        case sequenceStart(Properties)
        case mappingStart(Properties)
    }

    /// The tag and anchor before a node.
    struct Properties {
        let anchor: String?
        let tag: String?
    }
}

/// Reads events from libyaml; the only code that touches its memory.
final class EventSource {
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let bytes: UnsafeBufferPointer<UInt8>
    private let file: String

    /// The bytes must outlive this object.
    init(_ bytes: UnsafeBufferPointer<UInt8>, file: String) throws(YAMLError) {
        self.bytes = bytes
        self.file = file
        parser = .allocate(capacity: 1)
        guard yaml_parser_initialize(parser) == 1 else {
            parser.deallocate()
            throw YAMLError(at: TextLocation(file: file, line: 1, column: 1), .outOfMemory)
        }
        yaml_parser_set_input_string(parser, bytes.baseAddress, bytes.count)
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
    }

    func next() throws(YAMLError) -> Event {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw failure() }
        defer { yaml_event_delete(&event) }
        return Event(location: location(event.start_mark), kind: kind(of: event))
    }

    private func kind(of event: yaml_event_t) -> Event.Kind {
        switch event.type {
        case YAML_STREAM_START_EVENT: return .streamStart
        case YAML_DOCUMENT_START_EVENT: return .documentStart
        case YAML_DOCUMENT_END_EVENT: return .documentEnd
        case YAML_SEQUENCE_END_EVENT: return .sequenceEnd
        case YAML_MAPPING_END_EVENT: return .mappingEnd
        case YAML_ALIAS_EVENT:
            return .alias(anchor: string(event.data.alias.anchor) ?? "")
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            let text = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            return .scalar(
                YAMLScalar(String(decoding: text, as: UTF8.self), style: style(scalar.style)),
                properties(scalar.anchor, scalar.tag)
            )
        case YAML_SEQUENCE_START_EVENT:
            let start = event.data.sequence_start
            return .sequenceStart(properties(start.anchor, start.tag))
        case YAML_MAPPING_START_EVENT:
            let start = event.data.mapping_start
            return .mappingStart(properties(start.anchor, start.tag))
        default:
            // After the end of the stream libyaml returns empty events.
            return .streamEnd
        }
    }

    private func properties(
        _ anchor: UnsafeMutablePointer<yaml_char_t>?,
        _ tag: UnsafeMutablePointer<yaml_char_t>?
    ) -> Event.Properties {
        Event.Properties(anchor: string(anchor), tag: string(tag))
    }

    private func string(_ pointer: UnsafeMutablePointer<yaml_char_t>?) -> String? {
        pointer.map { String(cString: $0) }
    }

    private func style(_ style: yaml_scalar_style_t) -> YAMLScalar.Style {
        switch style {
        case YAML_SINGLE_QUOTED_SCALAR_STYLE: .singleQuoted
        case YAML_DOUBLE_QUOTED_SCALAR_STYLE: .doubleQuoted
        case YAML_LITERAL_SCALAR_STYLE: .literal
        case YAML_FOLDED_SCALAR_STYLE: .folded
        default: .plain
        }
    }

    private func location(_ mark: yaml_mark_t) -> TextLocation {
        TextLocation(file: file, line: Int(mark.line) + 1, column: Int(mark.column) + 1)
    }

    // MARK: Errors

    private func failure() -> YAMLError {
        let problem = parser.pointee.problem.map { String(cString: $0) } ?? "not YAML"
        switch parser.pointee.error {
        case YAML_MEMORY_ERROR:
            return YAMLError(at: location(parser.pointee.mark), .outOfMemory)
        case YAML_READER_ERROR:
            return YAMLError(
                at: location(atByte: parser.pointee.problem_offset),
                .encoding(problem)
            )
        default:
            let context = parser.pointee.context.map {
                YAMLError.Context(
                    text: String(cString: $0),
                    line: Int(parser.pointee.context_mark.line) + 1
                )
            }
            return YAMLError(
                at: location(parser.pointee.problem_mark),
                .syntax(problem, context: context)
            )
        }
    }

    /// For bytes that are not text, libyaml gives a byte offset instead of a mark.
    private func location(atByte offset: Int) -> TextLocation {
        let before = bytes.prefix(max(0, offset))
        let line = before.reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
        let lineBytes = before.suffix(while: { $0 != UInt8(ascii: "\n") })
        return TextLocation(
            file: file,
            line: line,
            column: String(decoding: lineBytes, as: UTF8.self).unicodeScalars.count + 1
        )
    }
}

extension BidirectionalCollection {
    /// The elements at the end that all meet the condition.
    fileprivate func suffix(while condition: (Element) -> Bool) -> SubSequence {
        var start = endIndex
        while start > startIndex, condition(self[index(before: start)]) {
            start = index(before: start)
        }
        return self[start...]
    }
}
