import SyncClient
import TestSupport

extension SteppedClock {
    var syncTime: SyncTime {
        SyncTime(uptime: { self.uptime }, sleep: { try await self.sleep(for: $0) })
    }
}
