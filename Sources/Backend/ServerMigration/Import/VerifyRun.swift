import BSON
import Changesets
import Documents
package import JSON
import Migration
import SchemaFiles
import Schemas
import Scopes
package import ServerStore

/// The result of comparing sources with the store (moving an app, 8).
package struct VerifyReport: Sendable {
    package struct ClassReport: Hashable, Sendable {
        package var equal = 0
        package var differ = 0
        package var missing = 0
        package var extra = 0
        package var changedSince = 0
        /// Documents that cannot be stored.
        package var unsynced = 0
        /// Documents whose `_id` came again: only the last one is compared.
        package var repeated = 0
    }

    package struct Difference: Hashable, Sendable {
        package let className: String
        package let id: String
        /// `missing`, `extra`, or the first property that differs.
        package let place: String
    }

    package internal(set) var classes: [String: ClassReport] = [:]
    /// The first twenty.
    package internal(set) var differences: [Difference] = []
    package internal(set) var isDamaged = false

    package var exitStatus: Int32 {
        isDamaged || classes.values.contains { $0.differ + $0.missing + $0.extra > 0 } ? 1 : 0
    }

    package var json: JSONValue {
        .object(
            classes.mapValues { report in
                .object([
                    "equal": .integer(Int64(report.equal)),
                    "differ": .integer(Int64(report.differ)),
                    "missing": .integer(Int64(report.missing)),
                    "extra": .integer(Int64(report.extra)),
                    "changed_since": .integer(Int64(report.changedSince)),
                    "unsynced": .integer(Int64(report.unsynced)),
                    "repeated": .integer(Int64(report.repeated)),
                ])
            }
        )
    }
}

/// Reads sources again, and compares each document with its object.
package struct ImportVerify {
    private let store: any Store
    private let target: ImportTarget

    package init(_ store: any Store, _ target: ImportTarget) {
        self.store = store
        self.target = target
    }

    private struct Wanted: Sendable {
        let object: ImportedObject
        let partition: Partition
        let json: [UInt8]
        /// Of the object, and whether it came before.
        let fingerprint: UInt64
        let isRepeated: Bool
    }

    private enum Verdict: Hashable, Sendable {
        case equal
        case changedSince
        case missing
        case differs(String)
    }

    private static let mostDifferences = 20
    private static let atOnce = 4096
    /// The verdicts that are kept for documents that may come again.
    private static let mostKeptVerdicts = 1 << 18

    package func run(
        _ files: [SourceFile],
        progress: (_ bytes: UInt64, _ documents: Int) -> Void = { _, _ in }
    ) async throws -> VerifyReport {
        var report = VerifyReport()
        let seen = try SeenKeys()
        var pending: [Wanted] = []
        var kept: [UInt64: Verdict] = [:]
        var bytes: UInt64 = 0
        var documents = 0
        for file in files {
            let cursor = try SourceCursor(file)
            while let events = try cursor.next() {
                for event in events {
                    switch event {
                    case .damaged: report.isDamaged = true
                    case .unreadable(let collection, _, _):
                        guard let name = target.conversion(of: collection)?.owner.name else {
                            continue
                        }
                        report.classes[name.description, default: .init()].unsynced += 1
                    case .document(let collection, let document, _):
                        documents += 1
                        guard !collection.isInternal,
                            let wanted = try wanted(document, of: collection, seen, &report)
                        else { continue }
                        pending.append(wanted)
                        if pending.count >= Self.atOnce {
                            try await compare(pending, &kept, &report)
                            pending = []
                        }
                    }
                }
                progress(bytes + cursor.offset, documents)
            }
            bytes += cursor.offset
        }
        try await compare(pending, &kept, &report)
        try await findExtra(seen, &report)
        return report
    }

    private func wanted(
        _ document: BSONDocument,
        of collection: SourceCollection,
        _ seen: SeenKeys,
        _ report: inout VerifyReport
    ) throws -> Wanted? {
        guard let conversion = target.conversion(of: collection), !conversion.owner.isAsymmetric
        else { return nil }
        guard let object = try? conversion.object(of: document) else {
            report.classes[conversion.owner.name.description, default: .init()].unsynced += 1
            return nil
        }
        let key = DocumentDigest.of(
            object.object.className.bytes + StoredKey.encode(object.object.key)
        )
        return Wanted(
            object: object,
            partition: target.partition(of: object),
            json: target.form.encode(
                object.document,
                key: object.object.key,
                of: conversion.owner
            ),
            fingerprint: key,
            isRepeated: try !seen.insert(key)
        )
    }

    private func compare(
        _ pending: [Wanted],
        _ kept: inout [UInt64: Verdict],
        _ report: inout VerifyReport
    ) async throws {
        guard !pending.isEmpty else { return }
        let target = target
        let verdicts = try await store.read { snapshot -> [Verdict] in
            var files: [Partition: ComparedFile] = [:]
            for (partition, wanted) in Dictionary(grouping: pending, by: \.partition) {
                guard let file = try snapshot.file(of: target.app, partition)?.id else { continue }
                files[partition] = ComparedFile(file, try snapshot.schema(of: file))
                try snapshot.expectDocuments(wanted.map(\.object.object), in: file)
            }
            return try pending.map { wanted in
                guard let file = files[wanted.partition] else { return .missing }
                return try Self.verdict(wanted, in: file, target, snapshot)
            }
        }
        for (wanted, verdict) in zip(pending, verdicts) {
            let object = wanted.object.object
            if wanted.isRepeated {
                // The later of two was stored, so that the earlier one does not count.
                let earlier = kept.removeValue(forKey: wanted.fingerprint) ?? .equal
                count(earlier, of: object, by: -1, &report)
                report.classes[object.className.description, default: .init()].repeated += 1
            }
            count(verdict, of: object, by: 1, &report)
            if verdict != .equal, kept.count < Self.mostKeptVerdicts {
                kept[wanted.fingerprint] = verdict
            }
        }
    }

    private func count(
        _ verdict: Verdict,
        of object: ObjectReference,
        by step: Int,
        _ report: inout VerifyReport
    ) {
        let place: String
        let name = object.className.description
        switch verdict {
        case .equal: return report.classes[name, default: .init()].equal += step
        case .changedSince: return report.classes[name, default: .init()].changedSince += step
        case .missing:
            report.classes[name, default: .init()].missing += step
            place = "missing"
        case .differs(let property):
            report.classes[name, default: .init()].differ += step
            place = property
        }
        guard step < 0 || report.differences.count < Self.mostDifferences else { return }
        let difference = VerifyReport.Difference(
            className: name,
            id: KeyText.print(object.key),
            place: place
        )
        if step < 0 {
            report.differences.removeAll { $0 == difference }
        } else {
            note(difference, &report)
        }
    }

    /// A server file, and the form of its documents.
    private struct ComparedFile {
        let id: ServerFileID
        let schema: RealmSchema
        let form: JSONForm

        init(_ id: ServerFileID, _ schema: RealmSchema) {
            self.id = id
            self.schema = schema
            self.form = JSONForm(schema: schema)
        }
    }

    private static func verdict(
        _ wanted: Wanted,
        in file: ComparedFile,
        _ target: ImportTarget,
        _ snapshot: any StoreReading
    ) throws -> Verdict {
        let object = wanted.object.object
        guard let stored = try snapshot.document(object, in: file.id) else {
            // A client may have erased it.
            return .missing
        }
        if stored == wanted.json { return .equal }
        guard let owner = target.declaration.schema[object.className],
            let known = file.schema[object.className]
        else { return .differs("") }
        let old = try file.form.decodeDocument(stored, of: known)
        let current =
            snapshot.keepsSpelling ? stored : file.form.encode(old, key: object.key, of: known)
        if current == wanted.json { return .equal }
        let record = try snapshot.importedRecord(of: object, in: target.app)
        if let record, record.file == file.id, DocumentDigest.of(current) != record.digest {
            return .changedSince
        }
        for (position, property) in owner.properties.enumerated() {
            guard let place = known.position(of: property.name),
                old.values[place] == wanted.object.document.values[position]
            else { return .differs(property.name.description) }
        }
        return .equal
    }

    private func note(_ difference: VerifyReport.Difference, _ report: inout VerifyReport) {
        guard report.differences.count < Self.mostDifferences else { return }
        report.differences.append(difference)
    }

    /// Objects that no source has.
    private func findExtra(_ seen: SeenKeys, _ report: inout VerifyReport) async throws {
        let app = target.app
        let files = try await store.read { try $0.files(of: app) }
        for file in files {
            for name in Set(target.map.classes.values).sorted() {
                var last: ObjectKey?
                while true {
                    let keys = try await store.read { [last] snapshot in
                        var keys: [ObjectKey] = []
                        try snapshot.forEachDocument(of: name, in: file.id, after: last) { key, _ in
                            keys.append(key)
                            return keys.count < Self.atOnce ? .next : .stop
                        }
                        return keys
                    }
                    guard let end = keys.last else { break }
                    last = end
                    for key in keys {
                        let bytes = name.bytes + StoredKey.encode(key)
                        guard !seen.contains(DocumentDigest.of(bytes)) else { continue }
                        report.classes[name.description, default: .init()].extra += 1
                        note(
                            VerifyReport.Difference(
                                className: name.description,
                                id: KeyText.print(key),
                                place: "extra"
                            ),
                            &report
                        )
                    }
                }
            }
        }
    }
}
