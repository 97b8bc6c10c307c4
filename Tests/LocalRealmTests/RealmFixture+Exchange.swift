import LocalRealm
import SQLite
import TestSupport

extension RandomWorld {
    mutating func write(to fixture: RealmFixture) throws {
        let program = try fixture.connect()
        for statement in transaction() { try? program.execute(statement) }
    }
}

extension RealmFixture {
    func write(_ world: inout RandomWorld, _ server: ServerModel) throws {
        try world.write(to: self)
        try exchange(with: server)
    }

    func exchange(with server: ServerModel, uploadsOnly: Bool = false) throws {
        _ = try realm.drain()
        try upload(to: server)
        if !uploadsOnly { try download(from: server) }
    }
}
