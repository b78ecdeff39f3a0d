import { describe, expect, it } from "vitest";
import { loggingChoices } from "../../src/config/loggingSettings.ts";
import { resolveOptions } from "../../src/config/precedence.ts";
import type { RawOption } from "../../src/config/rawOption.ts";
import { createLogger, type LogFields, silentLogger } from "../../src/observability/logger.ts";
import { Progress } from "../../src/observability/progress.ts";

describe("progress in a log", () => {
  it("is a line every ten seconds, with share, rates and the time left", () => {
    const lines: unknown[] = [];
    let nowMs = 0;
    const logger = {
      ...silentLogger,
      info: (fields: LogFields, message: string) => {
        lines.push([message, fields]);
      },
    };
    const progress = new Progress({ message: "importing blocks", total: 2000 }, logger, () => nowMs);
    // The first half is there already; the rest takes twenty seconds.
    progress.advance({ position: 1000 });
    for (let number = 1000; number < 2000; number++) {
      nowMs += 20;
      progress.advance({
        position: number + 1,
        counts: { blocks: 1, transactions: 2 },
        fields: { number },
      });
    }
    const rates = { blocksPerSecond: 50, transactionsPerSecond: 100 };
    expect(lines).toEqual([
      ["importing blocks", { percent: 75, number: 1499, ...rates, secondsLeft: 10 }],
      ["importing blocks", { percent: 100, number: 1999, ...rates, secondsLeft: 0 }],
    ]);
    expect([progress.count("blocks"), progress.count("transactions"), progress.seconds]).toEqual([
      1000, 2000, 20,
    ]);
  });

  it("has the rates of the last ten seconds, and none of what was done before another kind of work", () => {
    const lines: LogFields[] = [];
    let nowMs = 0;
    const logger = { ...silentLogger, info: (fields: LogFields) => void lines.push(fields) };
    const progress = new Progress({ message: "skipping", total: 10_000 }, logger, () => nowMs);
    const work = (seconds: number, perSecond: number): void => {
      for (let second = 0; second < seconds; second++) {
        nowMs += 1000;
        position += perSecond;
        progress.advance({ position, counts: { blocks: perSecond } });
      }
    };
    let position = 0;
    work(10, 500);
    progress.change({ message: "importing", total: 10_000 });
    work(10, 100);
    work(10, 10);
    expect(lines.map(({ blocksPerSecond, secondsLeft }) => [blocksPerSecond, secondsLeft])).toEqual([
      [500, 10],
      [100, 40],
      [10, 390],
    ]);
  });

  it("has no remaining time while nothing moves", () => {
    const lines: LogFields[] = [];
    let nowMs = 0;
    const logger = { ...silentLogger, info: (fields: LogFields) => void lines.push(fields) };
    const progress = new Progress({ message: "catching up", total: 10 }, logger, () => nowMs);
    progress.advance({ position: 5, counts: { blocks: 0 } });
    nowMs += 10_000;
    progress.show();
    expect(lines).toEqual([{ percent: 50, blocksPerSecond: 0 }]);
  });
});

describe("progress at a terminal", () => {
  it("is a bar below the log, with share, rate and the time left, and no line", () => {
    const { screen, logger, clock } = aTerminal();
    logger.info({}, "before");
    const progress = aHalfImport(logger, clock);
    expect(screen.lines()).toEqual([
      expect.stringMatching(/before$/),
      "importing blocks  [==============>              ]  50 %  100 blocks/s  5 s left",
    ]);
    logger.info({}, "after");
    expect(screen.lines().map((line) => line.replace(/^\d\d:\d\d:\d\d /, ""))).toEqual([
      "before",
      "after",
      expect.stringContaining("50 %"),
    ]);
    progress.end();
    expect(screen.lines().at(-1)).toMatch(/after$/);
    expect(screen.written).not.toContain(`${ESCAPE}[0m`);
  });

  it("is not drawn for work that ends soon, nor where the level hides it", () => {
    const { screen, logger, clock } = aTerminal();
    const progress = new Progress({ message: "short", total: 10 }, logger, clock.nowMs);
    clock.ms += 400;
    progress.advance({ position: 9 });
    progress.end();
    expect(screen.lines()).toEqual([""]);
    logger.changeLevel("WARN");
    aHalfImport(logger, clock);
    expect(screen.lines()).toEqual([""]);
  });

  it.each([200, 80, 60, 45, 30, 20, 10])("fits into a window of %d columns", (columns) => {
    const { screen, logger, clock } = aTerminal(columns);
    const progress = aHalfImport(logger, clock);
    expect(screen.lines()).toHaveLength(1);
    expect(screen.lines()[0]?.length).toBeLessThan(columns);
    expect(screen.lines()[0]).toMatch(columns < 25 ? /^import/ : /^importing blocks .*50 %/);
    progress.end();
    expect(screen.lines()).toEqual([""]);
  });

  it.each([100, 40, 20, 12])(
    "leaves nothing behind when the window changes from 80 to %d columns",
    (columns) => {
      const { screen, logger, clock } = aTerminal();
      const progress = aHalfImport(logger, clock);
      screen.resize(columns);
      expect(screen.lines()).toHaveLength(1);
      expect(screen.lines()[0]?.length).toBeLessThan(columns);
      progress.end();
      expect(screen.lines()).toEqual([""]);
    },
  );

  it("has a line for each work", () => {
    const { screen, logger, clock } = aTerminal();
    const first = aHalfImport(logger, clock);
    const second = new Progress({ message: "index", total: 4 }, logger, clock.nowMs);
    clock.ms += 1000;
    second.advance({ position: 1 });
    expect(screen.lines()).toEqual([
      expect.stringMatching(/^importing blocks/),
      expect.stringMatching(/^index .* 25 %$/),
    ]);
    first.end();
    expect(screen.lines()).toEqual([expect.stringMatching(/^index/)]);
    second.end();
    expect(screen.lines()).toEqual([""]);
  });
});

describe("the settings of the log", () => {
  it.each<[boolean, Readonly<Record<string, string>>, readonly RawOption[], boolean]>([
    [true, { TERM: "xterm" }, [], true],
    [true, { TERM: "xterm", NO_COLOR: "1" }, [], true],
    [true, { TERM: "dumb" }, [], false],
    [true, {}, [], false],
    [true, { TERM: "xterm", LOGGER: "Json" }, [], false],
    [true, { TERM: "xterm" }, [logged("TEXT")], false],
    [false, { TERM: "xterm" }, [], false],
    [false, { TERM: "xterm" }, [logged("TEXT")], false],
  ])(
    "have a bar only on a terminal that can draw one (%j, %j, %j)",
    (isTerminal, environment, raw, hasBar) => {
      const { settings } = loggingChoices(resolveOptions([raw]).options, [raw], { environment, isTerminal });
      expect(settings.hasBar).toBe(hasBar);
      expect(settings.isColored).toBe(isTerminal && environment["NO_COLOR"] === undefined);
    },
  );
});

function logged(text: string): RawOption {
  return { name: "logging-format", text, source: { kind: "commandLine" } };
}

/** A logger at a terminal of this width, and what its screen shows. */
function aTerminal(columns = 80) {
  const screen = new Screen(columns);
  const clock = { ms: 0, nowMs: () => clock.ms };
  const settings = { level: "INFO", moduleLevels: {}, format: "terminal", isColored: false } as const;
  const logger = createLogger({ ...settings, hasBar: true }, screen, undefined, screen);
  return { screen, logger, clock };
}

/** Work that is half done after five seconds. */
function aHalfImport(
  logger: ReturnType<typeof createLogger>,
  clock: { ms: number; nowMs(): number },
): Progress {
  const progress = new Progress({ message: "importing blocks", total: 1000 }, logger, clock.nowMs);
  progress.advance({ position: 0, counts: { blocks: 0 } });
  for (let step = 0; step < 5; step++) {
    clock.ms += 1000;
    progress.advance({ position: 100 * (step + 1), counts: { blocks: 100 } });
  }
  return progress;
}

const ESCAPE = String.fromCharCode(27);
/** A character, or a sequence that controls a terminal. */
const CHARACTERS = new RegExp(`${ESCAPE}\\[\\d*[AJm]|.`, "gs");

/** As much of a terminal as the bar and the log use: it breaks long lines, moves its cursor up, and erases below it. */
class Screen {
  written = "";
  columns: number;
  private rows: string[] = [""];
  private row = 0;
  private column = 0;
  private onResize: () => void = () => undefined;

  constructor(columns: number) {
    this.columns = columns;
  }

  on(_event: "resize", listener: () => void): void {
    this.onResize = listener;
  }

  off(): void {
    this.onResize = () => undefined;
  }

  lines(): readonly string[] {
    const last = this.rows.findLastIndex((row) => row !== "");
    return this.rows.slice(0, Math.max(1, last + 1));
  }

  write(text: string): void {
    this.written += text;
    for (const [part] of text.matchAll(CHARACTERS)) {
      const up = /\[(\d+)A$/.exec(part)?.[1];
      if (up !== undefined) this.row -= Number(up);
      else if (part.endsWith("J") && part.length > 1) {
        this.rows = this.rows.slice(0, this.row + 1);
        this.rows[this.row] = (this.rows[this.row] ?? "").slice(0, this.column);
      } else if (part === "\r") this.column = 0;
      else if (part === "\n") this.nextRow();
      else if (part.length === 1) this.put(part);
    }
  }

  /** Breaks the rows anew, as terminals do when they become narrower; the cursor stays behind the last character. */
  resize(columns: number): void {
    this.columns = columns;
    this.rows = this.rows.flatMap((row) => row.match(new RegExp(`.{1,${columns}}`, "g")) ?? [row]);
    this.row = this.rows.length - 1;
    this.column = this.rows[this.row]?.length ?? 0;
    this.onResize();
  }

  private put(character: string): void {
    if (this.column === this.columns) this.nextRow();
    const row = this.rows[this.row] ?? "";
    this.rows[this.row] = row.slice(0, this.column) + character + row.slice(this.column + 1);
    this.column++;
  }

  private nextRow(): void {
    this.row++;
    this.column = 0;
    this.rows[this.row] ??= "";
  }
}
