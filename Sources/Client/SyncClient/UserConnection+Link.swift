import Coordination
import Scheduling
import SyncProtocol
import Transport

/// Measurements of the network path to the server (interfaces, 4).
extension UserConnection {
    /// Smoothed as TCP does it, but with more weight: PINGs are rare.
    func noteRoundTrip(_ latest: Duration) {
        let smoothed = roundTrip.map { ($0 * 3 + latest) / 4 } ?? latest
        roundTrip = smoothed
        measured(.roundTrip(smoothed))
    }

    /// Only failures that a bad network can cause.
    func noteFailure(_ ending: ConnectionEnding) {
        guard !Task.isCancelled, case .failed(let reaction, _) = ending else { return }
        switch reaction.reason {
        case .connectFailed, .connectTimedOut, .lost, .pongTimedOut:
            measured(.failure)
        case .voluntary, .tlsFailed, .rejected, .badSubProtocol, .closed, .protocolViolation,
            .serverError:
            break
        }
    }

    func noteFailure(_ failure: EndpointFailure) {
        guard !Task.isCancelled, case .unavailable = failure else { return }
        measured(.failure)
    }

    /// Connects, exchanges one PING and PONG, and disconnects, so that there are readings while no
    /// realm may connect. Does nothing while there is a connection, which takes readings anyway.
    package func probe() async {
        guard !machine.isConnected, realmsInOrder.isEmpty else { return }
        let meter = linkMeter
        do {
            let token = try await endpoint.token()
            noteFailure(await connected(token) { stream in try await meter.probe(stream) })
        } catch {
            noteFailure(error)
        }
    }

    var linkMeter: LinkMeter {
        LinkMeter(mode: mode, time: time, pongTimeout: timing.pongTimeout, measured: measured)
    }
}
