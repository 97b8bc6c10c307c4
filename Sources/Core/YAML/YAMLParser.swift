extension YAMLNode {
    /// Reads the one document of a text; nil if it has only blanks and comments.
    ///
    /// Total: every sequence of bytes gives a node or a located error, within the limits.
    package static func parse(
        _ bytes: [UInt8],
        file: String,
        limits: YAMLLimits = .standard
    ) throws(YAMLError) -> YAMLNode? {
        guard bytes.count <= limits.sizeInBytes else {
            throw YAMLError(
                at: TextLocation(file: file, line: 1, column: 1),
                .tooLarge(limitInBytes: limits.sizeInBytes)
            )
        }
        return try bytes.withUnsafeBufferPointer { buffer throws(YAMLError) in
            var parser = YAMLParser(try EventSource(buffer, file: file), limits: limits)
            return try parser.readStream()
        }
    }
}

/// Composes nodes from events, and expands aliases as long as the limits allow.
private struct YAMLParser {
    private let events: EventSource
    private let limits: YAMLLimits
    private var anchors: [String: Anchor] = [:]
    /// Nodes so far, those behind aliases included.
    private var nodes = 0

    private enum Anchor {
        /// Its node is still being read.
        case open
        case complete(Composed)
    }

    /// A node with its cost when repeated by an alias.
    private struct Composed {
        let node: YAMLNode
        let nodes: Int
        /// Levels of collections, 0 for a scalar.
        let height: Int
    }

    init(_ events: EventSource, limits: YAMLLimits) {
        self.events = events
        self.limits = limits
    }

    mutating func readStream() throws(YAMLError) -> YAMLNode? {
        var root: YAMLNode?
        var documents = 0
        while true {
            let event = try events.next()
            switch event.kind {
            case .streamEnd:
                return root
            case .documentStart:
                documents += 1
                guard documents == 1 else {
                    throw YAMLError(at: event.location, .severalDocuments)
                }
                root = try readNode(try events.next(), depth: 0).node
            default:
                break
            }
        }
    }

    private mutating func readNode(_ event: Event, depth: Int) throws(YAMLError) -> Composed {
        switch event.kind {
        case .alias(let name):
            return try expand(name, at: event.location, depth: depth)
        case .scalar(let scalar, let properties):
            return try anchored(properties, at: event.location) {
                (_: inout Self) throws(YAMLError) in (.scalar(scalar), 0)
            }
        case .sequenceStart(let properties):
            try check(depth + 1, at: event.location)
            return try anchored(properties, at: event.location) {
                (parser: inout Self) throws(YAMLError) in try parser.readSequence(depth: depth + 1)
            }
        case .mappingStart(let properties):
            try check(depth + 1, at: event.location)
            return try anchored(properties, at: event.location) {
                (parser: inout Self) throws(YAMLError) in try parser.readMapping(depth: depth + 1)
            }
        case .streamStart, .streamEnd, .documentStart, .documentEnd, .sequenceEnd, .mappingEnd:
            // libyaml balances its events; this is a fallback.
            throw YAMLError(at: event.location, .syntax("expected a value", context: nil))
        }
    }

    private mutating func readSequence(
        depth: Int
    ) throws(YAMLError) -> (YAMLNode.Content, height: Int) {
        var elements: [YAMLNode] = []
        var height = 0
        while true {
            let event = try events.next()
            if case .sequenceEnd = event.kind { return (.sequence(elements), height + 1) }
            let element = try readNode(event, depth: depth)
            elements.append(element.node)
            height = max(height, element.height)
        }
    }

    private mutating func readMapping(
        depth: Int
    ) throws(YAMLError) -> (YAMLNode.Content, height: Int) {
        var mapping = YAMLMapping()
        var first: [String: TextLocation] = [:]
        var height = 0
        while true {
            let event = try events.next()
            if case .mappingEnd = event.kind { return (.mapping(mapping), height + 1) }
            let key = try text(ofKey: try readNode(event, depth: depth).node, at: event.location)
            let value = try readNode(try events.next(), depth: depth)
            height = max(height, value.height)
            if let first = first[key] {
                mapping.duplicates.append(
                    YAMLMapping.Duplicate(key: key, location: event.location, first: first)
                )
            } else {
                first[key] = event.location
                mapping.entries.append(
                    YAMLMapping.Entry(key: key, keyLocation: event.location, value: value.node)
                )
            }
        }
    }

    private func text(
        ofKey node: YAMLNode,
        at location: TextLocation
    ) throws(YAMLError) -> String {
        guard case .scalar(let scalar) = node.content else {
            throw YAMLError(at: location, .keyIsNotText)
        }
        guard scalar.style != .plain || scalar.text != "<<" else {
            throw YAMLError(at: location, .mergeKey)
        }
        return scalar.text
    }

    /// Reads one node that is not an alias, counts it, and stores it under its anchor.
    private mutating func anchored(
        _ properties: Event.Properties,
        at location: TextLocation,
        _ read: (inout Self) throws(YAMLError) -> (YAMLNode.Content, height: Int)
    ) throws(YAMLError) -> Composed {
        let before = nodes
        try count(1, at: location)
        let tag = try tag(properties.tag, at: location)
        if let anchor = properties.anchor { anchors[anchor] = .open }
        let (content, height) = try read(&self)
        let composed = Composed(
            node: YAMLNode(location: location, tag: tag, content: content),
            nodes: nodes - before,
            height: height
        )
        if let anchor = properties.anchor { anchors[anchor] = .complete(composed) }
        return composed
    }

    private mutating func expand(
        _ name: String,
        at location: TextLocation,
        depth: Int
    ) throws(YAMLError) -> Composed {
        switch anchors[name] {
        case nil:
            throw YAMLError(at: location, .unknownAnchor(name))
        case .open:
            throw YAMLError(at: location, .recursiveAlias(name))
        case .complete(let original):
            try count(original.nodes, at: location)
            try check(depth + original.height, at: location)
            return original
        }
    }

    private func tag(_ tag: String?, at location: TextLocation) throws(YAMLError) -> YAMLTag? {
        guard let text = tag else { return nil }
        guard let tag = YAMLTag(rawValue: text) else {
            throw YAMLError(at: location, .unknownTag(text))
        }
        return tag
    }

    private mutating func count(_ added: Int, at location: TextLocation) throws(YAMLError) {
        nodes += added
        guard nodes <= limits.nodes else {
            throw YAMLError(at: location, .tooManyNodes(limit: limits.nodes))
        }
    }

    private func check(_ depth: Int, at location: TextLocation) throws(YAMLError) {
        guard depth <= limits.depth else {
            throw YAMLError(at: location, .tooDeep(limit: limits.depth))
        }
    }
}
