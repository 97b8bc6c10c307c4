import Coordination
import LocalRealm
import Scheduling
import SyncClient

/// Delays the opening of realm files while very many connections are open: an agent that starts with thousands of
/// realms would need memory and seven descriptors for each of them at the same time.
///
/// Files that have nothing to do close after 0.3 seconds (`FileRest`). If the open ones have work to do, ten files
/// more are opened each second.
enum OpeningGate {
    private static let turns = Turns<OrderOfArrival>()
    private static let pause = Duration.milliseconds(5)
    private static let longestDelay = Duration.milliseconds(100)

    static func pass(_ time: SyncTime) async {
        guard OpenConnections.areVeryMany else { return }
        await turns.take {
            let end = time.uptime() + longestDelay
            while OpenConnections.areVeryMany, time.uptime() < end {
                guard (try? await time.sleep(pause)) != nil else { return }
            }
        }
    }
}
