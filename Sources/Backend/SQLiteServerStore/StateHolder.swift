import Coordination
import ServerStore

/// Lends one state of the store at a time, for as long as its borrower needs it.
actor StateHolder {
    private let worker: StoreWorker
    private let turns = Turns<OrderOfArrival>()

    init(_ worker: StoreWorker) {
        self.worker = worker
    }

    func hold<Outcome: Sendable>(
        _ body: @Sendable (any HeldState) async throws -> Outcome
    ) async throws -> Outcome {
        try await turns.take {
            try await worker.beginHolding()
            do {
                let outcome = try await body(Held(worker: worker))
                await worker.endHolding()
                return outcome
            } catch {
                await worker.endHolding()
                throw error
            }
        }
    }

    func close() async {
        await worker.close()
    }

    private struct Held: HeldState {
        let worker: StoreWorker

        func read<Outcome: Sendable>(
            _ body: @escaping @Sendable (any StoreReading) throws -> Outcome
        ) async throws -> Outcome {
            try await worker.readHeld(body)
        }

        /// There is one process, and it holds one state at a time.
        func claimSnapshot(of file: ServerFileID) async throws -> Bool { true }
    }
}
