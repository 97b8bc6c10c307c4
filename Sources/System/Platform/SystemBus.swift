import CSystemd
import Coordination
import Glibc

/// Starts units of the service manager.
package protocol UnitStarter: Sendable {
    func startUnit(_ name: String) async throws(SystemBusFailure)
}

/// The system bus, or the service on it, refused a call.
package struct SystemBusFailure: Error, Hashable, Sendable {
    package let reason: String

    package init(reason: String) {
        self.reason = reason
    }

    init(code: Int32) {
        self.init(reason: String(cString: strerror(abs(code))))
    }
}

/// One connection to a message bus, used by one thread at a time.
final class MessageBus {
    private let bus: OpaquePointer

    /// The system bus, or the one at an address such as `unix:path=/run/test.sock`.
    init(address: String? = nil) throws(SystemBusFailure) {
        var bus: OpaquePointer?
        let code: Int32
        if let address {
            code = Self.open(address, &bus)
        } else {
            code = sd_bus_open_system(&bus)
        }
        guard code >= 0, let bus else { throw SystemBusFailure(code: code) }
        self.bus = bus
    }

    deinit {
        sd_bus_flush_close_unref(bus)
    }

    private static func open(_ address: String, _ bus: inout OpaquePointer?) -> Int32 {
        var code = sd_bus_new(&bus)
        if code >= 0 { code = sd_bus_set_address(bus, address) }
        if code >= 0 { code = sd_bus_set_bus_client(bus, 1) }
        if code >= 0 { code = sd_bus_start(bus) }
        if code < 0 { bus = sd_bus_unref(bus) }
        return code
    }

    /// An address on the bus, down to a member of an interface.
    struct Member {
        let destination: String
        let path: String
        let interface: String
        let name: String
    }

    /// Calls a method with string arguments; its result is ignored.
    func call(_ member: Member, _ arguments: [String]) throws(SystemBusFailure) {
        var message: OpaquePointer?
        var code = sd_bus_message_new_method_call(
            bus,
            &message,
            member.destination,
            member.path,
            member.interface,
            member.name
        )
        defer { sd_bus_message_unref(message) }
        for argument in arguments where code >= 0 {
            code = sd_bus_message_append_basic(message, CChar(UInt8(ascii: "s")), argument)
        }
        guard code >= 0 else { throw SystemBusFailure(code: code) }
        var error = sd_bus_error(name: nil, message: nil, _need_free: 0)
        defer { sd_bus_error_free(&error) }
        code = sd_bus_call(bus, message, 0, &error, nil)
        try check(code, error)
    }

    /// Reads a property that is an unsigned 32-bit number.
    func number(_ member: Member) throws(SystemBusFailure) -> UInt32 {
        var error = sd_bus_error(name: nil, message: nil, _need_free: 0)
        defer { sd_bus_error_free(&error) }
        var value: UInt32 = 0
        let code = sd_bus_get_property_trivial(
            bus,
            member.destination,
            member.path,
            member.interface,
            member.name,
            &error,
            CChar(UInt8(ascii: "u")),
            &value
        )
        try check(code, error)
        return value
    }

    private func check(_ code: Int32, _ error: sd_bus_error) throws(SystemBusFailure) {
        guard code < 0 else { return }
        guard let text = error.message else { throw SystemBusFailure(code: code) }
        throw SystemBusFailure(reason: String(cString: text))
    }
}

/// systemd, reached over the system bus.
package struct SystemdUnits: UnitStarter {
    package init() {}

    package func startUnit(_ name: String) async throws(SystemBusFailure) {
        try await BlockingCall.run { () throws(SystemBusFailure) in
            try MessageBus().call(
                MessageBus.Member(
                    destination: "org.freedesktop.systemd1",
                    path: "/org/freedesktop/systemd1",
                    interface: "org.freedesktop.systemd1.Manager",
                    name: "StartUnit"
                ),
                // A unit that is just starting or stopping is left alone.
                [name, "replace"]
            )
        }
    }
}
