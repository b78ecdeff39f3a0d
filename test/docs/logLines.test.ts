import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readDocument, root } from "./documents.ts";

/** Shorter parts would be found in any text. */
const WORDS_THAT_COUNT = 3;

/** All text that the program may print, with sentences put together again that are split over several strings. */
const printed = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => readFileSync(join(root, "src", path), "utf8").replaceAll(/["`] \+\n\s*["`]/g, ""))
  .join("\n");

/** The fixed parts of a quoted log line, as long as they can be recognized: names and figures are left out. */
function fixedPartsOf(line: string): readonly string[] {
  return line
    .split(/…|0x\w+|\d[\d.:]*(?: s\b)?/)
    .map((part) => part.trim())
    .filter((part) => part.split(" ").length >= WORDS_THAT_COUNT);
}

function linesQuotedIn(page: string, heading: string): readonly string[] {
  const [, section = ""] = readDocument(page).split(`## ${heading}\n`);
  const [own = ""] = section.split("\n## ");
  const table = own.split("| log line |")[1] ?? "";
  return [...table.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, quoted = ""]) => quoted),
  );
}

describe("the log lines of docs/operating.md", () => {
  const quoted = linesQuotedIn("docs/operating.md", "When something goes wrong");

  it("are many", () => {
    expect(quoted.length).toBeGreaterThan(20);
  });

  it.each(quoted)("are what the node says: %s", (line) => {
    expect(fixedPartsOf(line).filter((part) => !printed.includes(part))).toEqual([]);
  });
});
