import Changesets
import Query
import Schemas
import ServerStore
import Versions

/// The views of one client file over the history, and the course of objects relative to them (flexible
/// sync, 8.1).
struct ViewTimeline: Sendable {
    private struct Epoch: Sendable {
        let start: ServerVersion
        let view: ClientView
    }

    /// Oldest first.
    private var epochs: [Epoch]

    init(_ stored: [ViewEpoch], _ schema: RealmSchema) {
        self.epochs = stored.map {
            Epoch(start: $0.start, view: ClientView(stored: $0.view, schema))
        }
    }

    /// A view in force from a version behind all others.
    mutating func append(_ view: ClientView, from start: ServerVersion) {
        epochs.append(Epoch(start: start, view: view))
    }

    /// The view that a client with this cursor has.
    func view(at version: ServerVersion) -> ClientView {
        epochs.last { $0.start <= version }?.view ?? .empty
    }

    /// The views that came into force within the versions, the one at the start first.
    func views(from start: ServerVersion, upTo end: ServerVersion) -> [ClientView] {
        [view(at: start)] + epochs.filter { $0.start > start && $0.start <= end }.map(\.view)
    }

    /// An object relative to the view, over a range of versions.
    struct Course: Hashable {
        enum State: Hashable {
            /// The object does not exist.
            case missing
            case outside
            case inside
            /// An image lacks a field: one that was not queryable for a while.
            case unknown
        }

        /// Whether it was never outside, at either side of each change. Then its history is its
        /// client's, too.
        private(set) var isContinuous = true
        private(set) var wasInside = false
        /// At the end of the range.
        private(set) var state = State.missing

        fileprivate mutating func note(_ next: State) {
            state = next
            switch next {
            case .missing: break
            case .outside: isContinuous = false
            case .inside: wasInside = true
            case .unknown:
                isContinuous = false
                wasInside = true
            }
        }

        /// Another view has other fields of the object: its client gets it again.
        fileprivate mutating func noteOtherFields() { isContinuous = false }
    }

    /// The course of an object after a version, up to another one.
    ///
    /// - Parameters:
    ///   - touches: its changes within the range, oldest first.
    ///   - present: the object as it is; counts if there is no change.
    func course(
        of object: ObjectReference,
        touches: some Sequence<TouchedObject>,
        present: DocumentObject?,
        after start: ServerVersion,
        upTo end: ServerVersion,
        _ images: ObjectImages
    ) throws(StoreError) -> Course {
        var course = Course()
        var view = view(at: start)
        var next = epochs.filter { $0.start > start && $0.start <= end }[...]
        var current = present.map { ObjectImage(object: $0, missing: []) }
        var isFirst = true
        for touch in touches {
            if isFirst {
                current = try touch.before.flatMap { (image) throws(StoreError) in
                    try images.object(image, object)
                }
                course.note(Self.state(of: current, object, view))
                isFirst = false
            }
            while let epoch = next.first, epoch.start < touch.version {
                next.removeFirst()
                change(&view, to: epoch.view, current, object, &course)
            }
            if case .kept = touch.change { continue }
            current = try touch.after.flatMap { (image) throws(StoreError) in
                try images.object(image, object)
            }
            course.note(Self.state(of: current, object, view))
        }
        if isFirst { course.note(Self.state(of: current, object, view)) }
        for epoch in next { change(&view, to: epoch.view, current, object, &course) }
        return course
    }

    private func change(
        _ view: inout ClientView,
        to new: ClientView,
        _ current: ObjectImage?,
        _ object: ObjectReference,
        _ course: inout Course
    ) {
        course.note(Self.state(of: current, object, new))
        if current != nil, !view.hasSameFields(as: new, of: object.className) {
            course.noteOtherFields()
        }
        view = new
    }

    private static func state(
        of image: ObjectImage?,
        _ object: ObjectReference,
        _ view: ClientView
    ) -> Course.State {
        guard let image else { return .missing }
        return view.contains(image, object.className).map { $0 ? .inside : .outside } ?? .unknown
    }
}
