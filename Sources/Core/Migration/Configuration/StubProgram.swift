/// A program that takes the place of a function until the operator replaces it (moving an app, 5).
enum StubProgram {
    /// Refuses everything, and says so on standard error.
    static func text(for purpose: String, source: String?) -> String {
        let origin = source.map { "the function in \($0) of the export" } ?? "a program of yours"
        return """
            #!/bin/sh
            # Takes the place of \(origin), which decided: \(purpose).
            # It refuses everything until you replace it. The server's manual, "Programs", has the
            # request on standard input and the answer on standard output.
            echo '\(purpose): not written yet; replace this program by \(escaped(origin))' >&2
            exit 1

            """
    }

    /// For text between single quotes.
    private static func escaped(_ text: String) -> String {
        text.filter { $0 != "'" && !$0.isNewline }
    }
}
