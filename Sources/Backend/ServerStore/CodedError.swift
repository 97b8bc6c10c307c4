/// An error with a stable code, explained in `docs/errors.md`.
package protocol CodedError: Error {
    var code: String { get }
}
