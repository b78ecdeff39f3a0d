import { assert } from "../primitives/assert.ts";
import type { Clock } from "../primitives/clock.ts";
import { METRIC_PREFIXES, type MetricCategory } from "./categories.ts";
import { paired, type Series, type SeriesLabels, SeriesTable } from "./series.ts";
import { QUANTILES, WindowedSummary } from "./summary.ts";

interface Declaration<L extends readonly string[]> {
  readonly category: MetricCategory;
  /** Name without the prefix. */
  readonly name: string;
  /** Replaces the prefix of the category. */
  readonly prefix?: string;
  readonly help: string;
  readonly labels?: L;
}

type LabelValues<L extends readonly string[]> = { readonly [Index in keyof L]: string };

/** One series for each combination of label values. */
interface Labelled<L extends readonly string[], Instrument> {
  with(...values: LabelValues<L>): Instrument;
}

interface Counter {
  increment(by?: number): void;
}

interface Summary {
  /** Counts `times` durations whose average is `seconds`. */
  observe(seconds: number, times?: number): void;
}

type Reading<Values> = readonly [values: Values, value: number];
/** A reading, with an optional suffix for the name of its sample. */
type FamilyReading<Values> = readonly [values: Values, value: number, suffix?: string];

type MetricType = "counter" | "gauge" | "summary";

/** The samples under one HELP and TYPE. */
export interface MetricFamily {
  readonly category: MetricCategory;
  readonly name: string;
  /** What the names of the family and its samples begin with, before the name within the category. */
  readonly prefix: string;
  readonly type: MetricType;
  readonly help: string;
  readonly samples: readonly Sample[];
}

export interface Sample {
  readonly name: string;
  readonly labels: SeriesLabels;
  readonly value: number;
}

interface MetricsParts {
  readonly clock: Pick<Clock, "nowMs">;
  /** Monotonic clock, milliseconds. */
  readonly stopwatchMs: () => number;
}

interface MetricsSettings {
  readonly categories: ReadonlySet<MetricCategory>;
  readonly hasTimers: boolean;
}

/**
 * Registry of the node's metrics, for Prometheus (metrics.md#naming-rules).
 *
 *     a module declares its metrics beside its code ──> registry ── collect ──> textFormat ──> /metrics, push gateway
 *       counters and summaries: updated on events            └ gauges: read at each collection
 *
 * Invariants: a name is declared once; a labelled series appears with its first use and is never removed; a disabled
 * category costs its callers an empty call and has no output. With metrics off there is no registry, and modules get none.
 * Names follow Besu's rules, so that its dashboards and alerts keep working.
 */
export class Metrics {
  private readonly settings: MetricsSettings;
  private readonly nowSeconds: () => number;
  /** Monotonic clock for durations, seconds. */
  readonly stopwatchSeconds: () => number;
  private readonly names = new Set<string>();
  private readonly families: (() => readonly MetricFamily[])[] = [];
  private readonly refreshes: (() => Promise<void>)[] = [];

  constructor(settings: MetricsSettings, { clock, stopwatchMs }: MetricsParts) {
    this.settings = settings;
    this.nowSeconds = () => clock.nowMs() / 1000;
    this.stopwatchSeconds = () => stopwatchMs() / 1000;
  }

  isEnabled(category: MetricCategory): boolean {
    return this.settings.categories.has(category);
  }

  /** Declares a counter. Adds `_total` to the name where it is missing. */
  counter<const L extends readonly string[] = []>(declaration: Declaration<L>): Labelled<L, Counter> {
    if (!this.isEnabled(declaration.category)) return { with: () => NO_COUNTER };
    const { full, ...named } = this.claim(declaration);
    const base = full.replace(/_total$/, "");
    const { help, labels = [] } = declaration;
    const series = new SeriesTable(labels, () => new RunningCount(this.nowSeconds()));
    const { entries } = series;
    this.families.push(() => [
      {
        ...named,
        name: `${base}_total`,
        type: "counter",
        help,
        samples: entries.map((each) => sample(`${base}_total`, each.labels, each.instrument.value)),
      },
      { ...named, ...created(base, help, entries) },
    ]);
    return series;
  }

  /** Declares a summary of durations in seconds, with quantiles. */
  summary<const L extends readonly string[] = []>(declaration: Declaration<L>): Labelled<L, Summary> {
    const { settings, stopwatchSeconds } = this;
    if (!settings.hasTimers || !this.isEnabled(declaration.category)) return { with: () => NO_SUMMARY };
    const { full: name, ...named } = this.claim(declaration);
    const { help, labels = [] } = declaration;
    const series = new SeriesTable(labels, () => new RunningSummary(this.nowSeconds(), stopwatchSeconds()));
    const { entries } = series;
    this.families.push(() => [
      {
        ...named,
        name,
        type: "summary",
        help,
        samples: entries.flatMap((each) => summarySamples(name, each, stopwatchSeconds())),
      },
      { ...named, ...created(name, help, entries) },
    ]);
    return series;
  }

  /** Declares a gauge. `read` is called at each collection; it returns NaN where there is no value. */
  gauge(declaration: Declaration<[]>, read: () => number): void {
    this.family({ ...declaration, type: "gauge" }, () => [[[], read()]]);
  }

  /** Declares a gauge with labels; each reading is a value with its label values. */
  gauges<const L extends readonly string[]>(
    declaration: Declaration<L>,
    read: () => Iterable<Reading<LabelValues<L>>>,
  ): void {
    this.family({ ...declaration, type: "gauge" }, read);
  }

  /** Declares a family whose values are kept elsewhere, such as in the runtime. `read` is called at each collection. */
  family<const L extends readonly string[] = []>(
    declaration: Declaration<L> & { readonly type: MetricType },
    read: () => Iterable<FamilyReading<LabelValues<L>>>,
  ): void {
    if (!this.isEnabled(declaration.category)) return;
    const { full: name, ...named } = this.claim(declaration);
    const { help, type, labels = [] } = declaration;
    this.families.push(() => [
      {
        ...named,
        name,
        type,
        help,
        samples: [...read()].map(([values, value, suffix = ""]) =>
          sample(name + suffix, paired(labels, values), value),
        ),
      },
    ]);
  }

  /** Runs before each collection, for values that need asynchronous reads. Failures are ignored. */
  beforeRead(refresh: () => Promise<void>): void {
    this.refreshes.push(refresh);
  }

  async collect(): Promise<readonly MetricFamily[]> {
    await Promise.allSettled(this.refreshes.map((refresh) => refresh()));
    return this.families.flatMap((read) => read());
  }

  /** Registers the full name. */
  private claim({
    category,
    name,
    prefix = METRIC_PREFIXES[category],
  }: Declaration<readonly string[]>): Pick<MetricFamily, "category" | "prefix"> & { readonly full: string } {
    const full = prefix + name;
    assert(!this.names.has(full), `two metrics are called ${full}`);
    this.names.add(full);
    return { category, prefix, full };
  }
}

class RunningCount implements Counter {
  readonly createdAt: number;
  value = 0;

  constructor(createdAt: number) {
    this.createdAt = createdAt;
  }

  increment(by = 1): void {
    this.value += by;
  }
}

class RunningSummary extends WindowedSummary implements Summary {
  readonly createdAt: number;

  constructor(createdAt: number, startedAt: number) {
    super(startedAt);
    this.createdAt = createdAt;
  }
}

const NO_COUNTER: Counter = { increment: () => undefined };
const NO_SUMMARY: Summary = { observe: () => undefined };

/** The `_created` gauge that Besu has beside every counter and summary: creation time of each series, Unix seconds. */
function created(
  base: string,
  help: string,
  entries: readonly Series<{ readonly createdAt: number }>[],
): Omit<MetricFamily, "category" | "prefix"> {
  const name = `${base}_created`;
  return {
    name,
    type: "gauge",
    help,
    samples: entries.map(({ labels, instrument }) => sample(name, labels, instrument.createdAt)),
  };
}

function summarySamples(
  name: string,
  { labels, instrument }: Series<WindowedSummary>,
  now: number,
): Sample[] {
  const { quantiles, sum, count } = instrument.read(now);
  return [
    ...quantiles.map((value, index) =>
      sample(name, [...labels, ["quantile", QUANTILE_TEXTS[index] ?? ""]], value),
    ),
    sample(`${name}_count`, labels, count),
    sample(`${name}_sum`, labels, sum),
  ];
}

/** Quantiles as label values. Besu writes the highest as "1.0", and alert rules may name it. */
const QUANTILE_TEXTS = QUANTILES.map((quantile) => (quantile === 1 ? "1.0" : String(quantile)));

function sample(name: string, labels: SeriesLabels, value: number): Sample {
  return { name, labels, value };
}
