import FuzzTargets
import Glibc

/// The target that `REALM_FUZZ_TARGET` names.
private let target: FuzzTarget = {
    let name = getenv("REALM_FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
        let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")
        fatalError("REALM_FUZZ_TARGET must be one of \(names)")
    }
    return target
}()

private typealias Arguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

/// libFuzzer: runs the inputs that its arguments ask for.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<Arguments>,
    _ run: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// The package manager makes this the entry of the program, in the place of libFuzzer's own.
@_cdecl("fuzz_main")
public func main(
    _ count: CInt,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
) -> CInt {
    var (count, arguments) = (count, arguments)
    return runDriver(&count, &arguments) { start, count in
        let broken = target.run(Array(UnsafeBufferPointer(start: start, count: count)))
        if let claim = broken.first { fatalError(claim) }
        return 0
    }
}
