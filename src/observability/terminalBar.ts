/** Text for a line of this many columns; it must not be longer. */
type BarText = (columns: number) => string;

/**
 * The lines at the bottom of a terminal that show how far long work is. They are drawn again in place; what others print
 * goes above them, through `above`. Each piece of work has one line, the newest few are shown.
 */
export class TerminalBar {
  private readonly write: (text: string) => void;
  private readonly terminal: TerminalSize;
  private readonly texts = new Map<object, BarText>();
  /** The lines that are on the screen now. */
  private drawn: readonly string[] = [];

  constructor(write: (text: string) => void, terminal: TerminalSize = process.stdout) {
    this.write = write;
    this.terminal = terminal;
  }

  /** Shows the line of a piece of work, or draws it again. */
  show(work: object, text: BarText): void {
    this.listen();
    this.texts.set(work, text);
    this.redraw();
  }

  /** Takes away the line of a piece of work that has ended. */
  remove(work: object): void {
    if (!this.texts.delete(work)) return;
    this.redraw();
    if (this.texts.size > 0) return;
    this.terminal.off("resize", this.redraw);
    process.off("exit", this.clear);
  }

  /** Lets something else be printed, and puts the lines below it. */
  above(print: () => void): void {
    if (this.drawn.length > 0) this.write(this.erasure());
    this.drawn = [];
    print();
    this.redraw();
  }

  private readonly redraw = (): void => {
    const columns = this.columns;
    const lines = [...this.texts.values()].slice(-MOST_LINES).map((text) => text(columns - 1));
    const erasure = this.drawn.length === 0 ? "" : this.erasure();
    this.drawn = lines;
    if (erasure !== "" || lines.length > 0) this.write(erasure + lines.join("\n"));
  };

  /** Moves to the first of the drawn lines and erases from there. A window made narrower has broken them into more rows. */
  private erasure(): string {
    const rows = this.drawn.reduce(
      (sum, line) => sum + Math.max(1, Math.ceil(line.length / this.columns)),
      0,
    );
    return `\r${rows > 1 ? `${ESCAPE}[${rows - 1}A` : ""}${ESCAPE}[J`;
  }

  private get columns(): number {
    // A terminal whose size was never set has 0 columns.
    return this.terminal.columns || USUAL_COLUMNS;
  }

  /** Draws the shown lines again when the window changes, and removes them when the process ends. */
  private listen(): void {
    if (this.texts.size > 0) return;
    this.terminal.on("resize", this.redraw);
    process.on("exit", this.clear);
  }

  private readonly clear = (): void => {
    this.texts.clear();
    this.redraw();
  };
}

/** A terminal's width, and the event of its change: process.stdout. */
export interface TerminalSize {
  readonly columns?: number;
  on(event: "resize", listener: () => void): unknown;
  off(event: "resize", listener: () => void): unknown;
}

const ESCAPE = String.fromCharCode(27);
const USUAL_COLUMNS = 80;
/** Pieces of work of which lines are shown. */
const MOST_LINES = 3;
