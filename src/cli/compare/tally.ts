import type { BlockRequest } from "./blockContents.ts";
import type { Answers, Finding, Side } from "./findings.ts";
import { COMPARE_LIMITS } from "./limits.ts";
import type { MethodTemplate } from "./methodTemplates.ts";
import { differenceText, type Report } from "./report.ts";

/** Counts and prints the findings: differences one by one, the rest once for each kind. */
export class Tally {
  blocks = 0;
  answers = 0;
  explained = 0;
  notCompared = 0;
  leftOut = 0;
  newest: bigint | undefined;
  readonly differencesByMethod = new Map<string, number>();
  /** Nodes that currently do not answer. */
  readonly away: ReadonlySet<Side>;
  #templates: readonly MethodTemplate[];
  /** Sentences that were printed. */
  readonly #reported = new Set<string>();
  readonly #names: Readonly<Record<Side, string>>;
  readonly #print: (text: string) => void;
  readonly #report: Report | undefined;

  constructor({ names, templates, report, away }: TallySettings, print: (text: string) => void) {
    this.away = away;
    this.#names = names;
    this.#templates = templates;
    this.#report = report;
    this.#print = print;
  }

  /** The methods that, as far as is known, both nodes have. */
  get templates(): readonly MethodTemplate[] {
    return this.#templates;
  }

  get differences(): number {
    return [...this.differencesByMethod.values()].reduce((sum, each) => sum + each, 0);
  }

  add(number: bigint, request: BlockRequest, answers: Answers, finding: Finding): void {
    if (finding.kind !== "notEnabled") this.answers++;
    if (finding.kind !== "same" && finding.kind !== "notEnabled")
      this.#report?.write(number, request, answers, finding);
    switch (finding.kind) {
      case "same":
        return;
      case "notEnabled":
        this.#templates = this.#templates.filter(({ method }) => method !== request.method);
        this.#reportOnce(
          `${request.method} is not enabled on ${this.#names[finding.side]}: it is not compared`,
        );
        return;
      case "notCompared":
        this.notCompared++;
        this.#reportOnce(
          `NOT COMPARED: ${request.method}, ${this.#names[finding.side]}: ${finding.reason} (first at block ${number})`,
          `${request.method} ${finding.side} ${finding.reason}`,
        );
        return;
      case "explained":
        this.explained++;
        this.#reportOnce(
          `explained: ${request.method}: ${finding.row} (docs/differences-from-besu.md; first at block ${number})`,
          `${request.method} ${finding.row}`,
        );
        return;
      case "different":
        this.#addDifference(number, request, finding);
    }
  }

  /** Adds blocks that a node no longer has, or never had. */
  addAbsent({ from, to }: { readonly from: bigint; readonly to: bigint }, side: Side): void {
    this.notCompared += Number(to - from) + 1;
    const which = from === to ? `block ${from}` : `blocks ${from} to ${to}`;
    this.#reportOnce(
      `NOT COMPARED: ${which}, ${this.#names[side]}: it removes old blocks, or was made from a snapshot`,
      `blocks ${side}`,
    );
  }

  #addDifference(
    number: bigint,
    request: BlockRequest,
    finding: Extract<Finding, { kind: "different" }>,
  ): void {
    this.differencesByMethod.set(request.method, (this.differencesByMethod.get(request.method) ?? 0) + 1);
    const { differences } = this;
    if (differences <= COMPARE_LIMITS.printedDifferences)
      this.#print(differenceText(number, request, finding, this.#names));
    if (differences === COMPARE_LIMITS.printedDifferences)
      this.#print("Further differences are counted, and written to the report, but not printed.\n");
  }

  summary(): string {
    const { blocks, answers, differences, explained, notCompared, leftOut } = this;
    const rest = leftOut > 0 ? `, ${leftOut} left out of large blocks` : "";
    return `${blocks} blocks, ${answers} answers, ${differences} different, ${explained} explained, ${notCompared} not compared${rest}`;
  }

  #reportOnce(sentence: string, key = sentence): void {
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    this.#print(`${sentence}\n`);
  }
}

interface TallySettings {
  readonly names: Readonly<Record<Side, string>>;
  readonly templates: readonly MethodTemplate[];
  readonly report: Report | undefined;
  readonly away: ReadonlySet<Side>;
}
