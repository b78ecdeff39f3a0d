/** A family as Prometheus would read it from the text format 0.0.4. */
export interface ParsedFamily {
  readonly type: string;
  readonly help: string;
  readonly samples: readonly ParsedSample[];
}

interface ParsedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (NaN|[+-]Inf|[+-]?[0-9.]+(?:e[+-]?[0-9]+)?)$`);
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\\\|\\"|\\n)*)"(?:,|$)/;

/**
 * Parses the text format strictly: HELP, then TYPE, then samples of that family, no series twice, nothing else, and a line
 * feed at the end. Throws with the invalid line.
 */
export function parseExposition(text: string): ReadonlyMap<string, ParsedFamily> {
  if (!text.endsWith("\n")) throw new Error("the last line has no line feed");
  const families = new Map<string, { type: string; help: string; samples: ParsedSample[] }>();
  const seen = new Set<string>();
  let open = "";
  const lines = text.split("\n").slice(0, -1);
  for (const [index, line] of lines.entries()) {
    const wrong = (why: string): Error => new Error(`line ${index + 1}: ${why}: ${line}`);
    const help = new RegExp(`^# HELP (${NAME}) (.+)$`).exec(line);
    const type = new RegExp(`^# TYPE (${NAME}) (counter|gauge|summary)$`).exec(line);
    if (help?.[1] !== undefined) {
      if (families.has(help[1])) throw wrong("a second family of this name");
      families.set(help[1], { type: "", help: help[2] ?? "", samples: [] });
      open = help[1];
      continue;
    }
    const family = families.get(open);
    if (family === undefined) throw wrong("before any HELP");
    if (type !== null) {
      if (type[1] !== open || family.type !== "") throw wrong("a TYPE without its HELP");
      family.type = type[2] ?? "";
      continue;
    }
    const [, name = "", labelText, valueText = ""] = SAMPLE.exec(line) ?? [];
    if (name === "" || family.type === "") throw wrong("neither comment nor sample");
    const suffixes = family.type === "summary" ? ["", "_sum", "_count"] : [""];
    if (!suffixes.some((suffix) => name === open + suffix)) throw wrong(`does not belong to ${open}`);
    const series = line.slice(0, line.lastIndexOf(" "));
    if (seen.has(series)) throw wrong("a series twice");
    seen.add(series);
    family.samples.push({ name, labels: parseLabels(labelText, wrong), value: numberOf(valueText) });
  }
  return families;
}

function parseLabels(text: string | undefined, wrong: (why: string) => Error): Record<string, string> {
  const labels: Record<string, string> = {};
  let rest = text ?? "";
  if (text === "") throw wrong("empty braces");
  while (rest !== "") {
    const [whole, name = "", value = ""] = LABEL.exec(rest) ?? [];
    if (whole === undefined || name in labels) throw wrong("labels cannot be read");
    labels[name] = value.replace(/\\(.)/g, (_, letter: string) => (letter === "n" ? "\n" : letter));
    rest = rest.slice(whole.length);
  }
  return labels;
}

function numberOf(text: string): number {
  return Number(text.replace("Inf", "Infinity"));
}

/** The value of the one sample with this name and these labels; undefined when there is none. */
export function sampleValue(
  families: ReadonlyMap<string, ParsedFamily>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const found = [...families.values()]
    .flatMap(({ samples }) => samples)
    .filter((each) => each.name === name)
    .filter((each) => Object.entries(labels).every(([label, value]) => each.labels[label] === value));
  if (found.length > 1) throw new Error(`${found.length} samples are called ${name}`);
  return found[0]?.value;
}
