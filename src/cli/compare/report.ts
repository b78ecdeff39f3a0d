import { closeSync, openSync, writeSync } from "node:fs";
import type { BlockRequest } from "./blockContents.ts";
import { type Answers, type Finding, membersOf } from "./findings.ts";
import { COMPARE_LIMITS } from "./limits.ts";
import { showValue } from "./parseAnswer.ts";

/** A file of JSON lines, one for each finding that is not `same`. */
export class Report {
  private readonly file: number;
  private bytes = 0;

  /** Creates or replaces the file. Throws errors of the file system. */
  constructor(path: string) {
    this.file = openSync(path, "w");
  }

  write(number: bigint, { method, params }: BlockRequest, answers: Answers, finding: Finding): void {
    if (this.bytes >= COMPARE_LIMITS.reportBytes) return;
    const line = JSON.stringify({
      block: Number(number),
      method,
      params,
      finding: finding.kind,
      ...(finding.kind === "explained" && { row: finding.row }),
      ...(finding.kind === "notCompared" && { node: finding.side, reason: finding.reason }),
      ...(finding.kind === "different" && {
        places: finding.places.map(({ path, ours, theirs }) => ({
          place: placeName(path),
          ours: reported(ours),
          theirs: reported(theirs),
        })),
      }),
      ours: reported(membersOf(answers.ours)),
      theirs: reported(membersOf(answers.theirs)),
    });
    this.bytes += writeSync(this.file, `${line}\n`);
  }

  close(): void {
    closeSync(this.file);
  }
}

/** Text about a difference for the operator: where it is, and what each node answers there. */
export function differenceText(
  number: bigint,
  { method, params }: BlockRequest,
  finding: Extract<Finding, { kind: "different" }>,
  names: { readonly ours: string; readonly theirs: string },
): string {
  const [first] = finding.places;
  const more = finding.places.length - 1;
  const count = more >= COMPARE_LIMITS.placesPerAnswer - 1 ? `at least ${more}` : String(more);
  return [
    `DIFFERENT: block ${number}, ${method} ${shortened(JSON.stringify(params))}`,
    `  at ${placeName(first?.path ?? [])}${more > 0 ? `, and at ${count} more` : ""}`,
    `  ${names.ours}: ${shortened(showValue(first?.ours))}`,
    `  ${names.theirs}: ${shortened(showValue(first?.theirs))}`,
    "",
  ].join("\n");
}

/** Formats a path, such as result.logs[3].data. */
function placeName(path: readonly string[]): string {
  return path
    .map((name, index) => (/^\d+$/.test(name) ? `[${name}]` : `${index === 0 ? "" : "."}${name}`))
    .join("");
}

function shortened(text: string): string {
  const printable = text.replaceAll(/[^\x20-\x7e]/g, "?");
  if (printable.length <= COMPARE_LIMITS.printedCharacters) return printable;
  return `${printable.slice(0, COMPARE_LIMITS.printedCharacters)}… (${printable.length} characters)`;
}

function reported(value: unknown): string {
  const text = showValue(value);
  return text.length <= COMPARE_LIMITS.reportedCharacters
    ? text
    : `${text.slice(0, COMPARE_LIMITS.reportedCharacters)}… (${text.length} characters)`;
}
