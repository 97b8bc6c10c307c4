package import ServerStore

extension Backplane {
    /// Does a job as `perform(_:every:_:)`, and counts it.
    package func perform(
        _ job: Job,
        every interval: Duration,
        _ meter: ServerMeter,
        _ body: @Sendable () async -> Void
    ) async {
        await perform(job, every: interval) {
            await meter.time({ .finished(job, seconds: $0) }, body)
        }
    }
}
