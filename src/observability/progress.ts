import { systemClock } from "../primitives/clock.ts";
import type { LogFields } from "./logger.ts";
import type { TerminalBar } from "./terminalBar.ts";

/** A piece of long work. */
interface Work {
  /** The message of its log lines, and the beginning of its bar. */
  readonly message: string;
  /** The position at its end; undefined where nobody knows. */
  readonly total?: number | undefined;
  /** Milliseconds between two log lines; LINE_INTERVAL_MS unless given. */
  readonly lineIntervalMs?: number;
}

/** Where progress is shown: as a bar if there is one, otherwise as lines. A logger is one. */
export interface ProgressOutput {
  readonly bar?: TerminalBar | undefined;
  isEnabled(level: "info"): boolean;
  info(fields: LogFields, message: string): void;
}

interface Step {
  /** How far the work is, in the unit of the total; absent where the unit has no end. */
  readonly position?: number;
  /** What was done since the last step, by name: blocks, transactions, bytes. The bar shows the rate of the first. */
  readonly counts?: Readonly<Record<string, number>>;
  /** Further facts for a log line. */
  readonly fields?: LogFields;
}

interface Sample {
  readonly atMs: number;
  readonly position: number | undefined;
  readonly counts: ReadonlyMap<string, number>;
}

/**
 * The progress of long work, in one form for all of it: at a terminal a bar with share, rate and remaining time, elsewhere a log
 * line now and then with the same as fields (`percent`, `blocksPerSecond`, `secondsLeft`). Rates are those of the last ten
 * seconds. It costs little to call for each of millions of steps.
 */
export class Progress {
  private readonly output: ProgressOutput;
  private readonly nowMs: () => number;
  private readonly startMs: number;
  private work: Work;
  private readonly counts = new Map<string, number>();
  private position: number | undefined;
  private fields: LogFields = {};
  private samples: readonly Sample[];
  private linedAtMs: number;
  private nextLookMs: number;

  constructor(work: Work, output: ProgressOutput, nowMs: () => number = systemClock.nowMs) {
    this.work = work;
    this.output = output;
    this.nowMs = nowMs;
    this.startMs = nowMs();
    this.linedAtMs = this.startMs;
    this.nextLookMs = this.startMs;
    this.samples = [{ atMs: this.startMs, position: undefined, counts: new Map() }];
  }

  /** Changes what the work is doing now, or where it will end. Rates begin anew when it does something else. */
  change(work: Work): void {
    if (work.message !== this.work.message) this.samples = [];
    this.work = work;
  }

  advance({ position, counts, fields }: Step): void {
    if (position !== undefined) this.position = position;
    if (fields !== undefined) this.fields = fields;
    for (const name in counts) this.counts.set(name, (this.counts.get(name) ?? 0) + (counts[name] ?? 0));
    this.show();
  }

  /** Shows how far the work is if that is due. For work that may stand still, to be called now and then. */
  show(): void {
    const atMs = this.nowMs();
    if (atMs < this.nextLookMs) return;
    this.nextLookMs = atMs + LOOK_INTERVAL_MS;
    this.takeSample(atMs);
    const { bar } = this.output;
    if (bar !== undefined && this.output.isEnabled("info")) {
      if (atMs - this.startMs >= BAR_DELAY_MS) bar.show(this, (columns) => this.barText(columns));
    } else if (atMs - this.linedAtMs >= (this.work.lineIntervalMs ?? LINE_INTERVAL_MS)) {
      this.linedAtMs = atMs;
      this.output.info(this.lineFields(), this.work.message);
    }
  }

  /** Takes the bar away. The end of the work is for its caller to report. */
  end(): void {
    this.output.bar?.remove(this);
  }

  /** How often this was counted so far. */
  count(name: string): number {
    return this.counts.get(name) ?? 0;
  }

  /** Seconds since the begin, to a tenth. */
  get seconds(): number {
    return rounded((this.nowMs() - this.startMs) / 1000);
  }

  private takeSample(atMs: number): void {
    const { position } = this;
    // The first known position is where the measured part of the work begins.
    const kept = this.samples.filter((sample) => sample.position !== undefined || position === undefined);
    const last = kept.at(-1);
    if (last !== undefined && atMs - last.atMs < SAMPLE_INTERVAL_MS) {
      this.samples = kept;
      return;
    }
    const samples = [...kept, { atMs, position, counts: new Map(this.counts) }];
    const past = samples.findLastIndex((sample) => sample.atMs <= atMs - RATE_WINDOW_MS);
    this.samples = past > 0 ? samples.slice(past) : samples;
  }

  private lineFields(): LogFields {
    const { share, secondsLeft } = this;
    return {
      ...(share !== undefined && { percent: rounded(100 * share) }),
      ...this.fields,
      ...Object.fromEntries(this.rates().map(([name, rate]) => [`${name}PerSecond`, rounded(rate)])),
      ...(secondsLeft !== undefined && { secondsLeft }),
    };
  }

  private get share(): number | undefined {
    const { total } = this.work;
    if (total === undefined || this.position === undefined) return undefined;
    return Math.min(1, Math.max(0, this.position / Math.max(1, total)));
  }

  /** Undefined while nothing moves. */
  private get secondsLeft(): number | undefined {
    const { total } = this.work;
    const [first] = this.samples;
    if (total === undefined || this.position === undefined || first?.position === undefined) return undefined;
    const moved = this.position - first.position;
    const seconds = (this.nowMs() - first.atMs) / 1000;
    if (moved <= 0 || seconds <= 0) return undefined;
    return Math.round((Math.max(0, total - this.position) * seconds) / moved);
  }

  private rates(): readonly (readonly [name: string, perSecond: number])[] {
    const [first] = this.samples;
    const seconds = (this.nowMs() - (first?.atMs ?? 0)) / 1000;
    if (first === undefined || seconds <= 0) return [];
    return [...this.counts].map(([name, count]) => [name, (count - (first.counts.get(name) ?? 0)) / seconds]);
  }

  /** One line: the message, a bar, the share, the rate, the remaining time. What does not fit is left out, the bar first. */
  private barText(columns: number): string {
    const { share, secondsLeft } = this;
    const [rate] = this.rates();
    const percent = share === undefined ? [] : [`${Math.floor(100 * share)} %`];
    const speed = rate === undefined ? [] : [rateText(...rate)];
    const left = secondsLeft === undefined ? [] : [`${durationOf(secondsLeft)} left`];
    const { message } = this.work;
    const said = (parts: readonly string[]): string =>
      [message, ...parts].filter((part) => part !== "").join("  ");
    const choices = [[...percent, ...speed, ...left], [...percent, ...left], percent];
    const text = choices.map(said).find((each) => each.length <= columns);
    if (text === undefined) return message.slice(0, columns);
    const room = Math.min(LONGEST_BAR, columns - said([...percent, ...speed, ...left]).length - 4);
    if (share === undefined || room < SHORTEST_BAR) return text;
    const done = Math.floor(room * share);
    const drawn = `[${"=".repeat(done)}${done < room ? ">" : ""}${" ".repeat(Math.max(0, room - done - 1))}]`;
    return said([drawn, ...percent, ...speed, ...left]);
  }
}

/** Formats a duration: "90 s", "12 min", "3 h". */
export function durationOf(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

export function rateText(name: string, perSecond: number): string {
  if (name === "bytes") return `${(perSecond / 1e6).toFixed(1)} MB/s`;
  const digits = perSecond < 10 ? 1 : 0;
  return `${perSecond.toLocaleString("en", { maximumFractionDigits: digits })} ${name}/s`;
}

function rounded(value: number): number {
  return Number(value.toFixed(1));
}

/** Milliseconds between two log lines. */
const LINE_INTERVAL_MS = 10_000;
/** Milliseconds between two looks at whether something is to be shown, and between two drawings of a bar. */
const LOOK_INTERVAL_MS = 200;
/** Work that ends sooner has no bar. */
const BAR_DELAY_MS = 500;
/** Rates and the remaining time follow from the last ten seconds. */
const RATE_WINDOW_MS = 10_000;
const SAMPLE_INTERVAL_MS = 1000;
const SHORTEST_BAR = 10;
const LONGEST_BAR = 30;
