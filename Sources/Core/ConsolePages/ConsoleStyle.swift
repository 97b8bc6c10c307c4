/// The style of the page, as a resource of its own: the page's policy allows no style within it.
enum ConsoleStyle {
    static let text = """
        :root { color-scheme: light dark; }
        body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 72rem; padding: 1rem; }
        h1 { font-size: 1.3rem; }
        h2 { font-size: 1.1rem; margin-top: 2rem; }
        h3 { font-size: 1rem; margin: 1.5rem 0 .3rem; }
        table { border-collapse: collapse; width: 100%; }
        th, td { border-bottom: 1px solid #8886; padding: .3rem .6rem; text-align: left;
            vertical-align: top; overflow-wrap: anywhere; }
        th { font-weight: 600; }
        td.number, th.number { text-align: right; font-variant-numeric: tabular-nums;
            white-space: nowrap; }
        td.act { text-align: right; white-space: nowrap; }
        form { display: inline; }
        button { font: inherit; padding: .1rem .7rem; }
        .chosen { font-weight: 600; }
        .state { border: 1px solid currentColor; border-radius: .7rem; padding: 0 .5rem; }
        .good { color: #1a7f37; }
        .bad { color: #cf222e; }
        .quiet { color: #777; }
        .box { border: 2px solid #cf222e; padding: .5rem 1rem; margin: 1rem 0; }
        @media (prefers-color-scheme: dark) {
            .good { color: #3fb950; }
            .bad { color: #ff7b72; }
        }

        """
}
