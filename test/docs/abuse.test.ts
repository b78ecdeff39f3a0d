import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "./documents.ts";

const SOURCE = join(root, "src", "network");
const [, section = ""] = readFileSync(join(root, "docs", "protocol", "p2p.md"), "utf8").split("\n## Abuse\n");
const rows = (section.split("\n## ")[0] ?? "")
  .split("\n")
  .filter((line) => line.startsWith("| "))
  .slice(1)
  .map((line) => line.split(" | "));
const counted = new Set(
  rows.flatMap((cells) => [...(cells.at(-1) ?? "").matchAll(/`(\w+)`/g)].map(([, reason = ""]) => reason)),
);

/** The members of a type that is a union of strings. */
function membersOf(type: string): string[] {
  const [, after = ""] = readFileSync(join(SOURCE, "traffic.ts"), "utf8").split(`export type ${type} =`);
  return [...(after.split(";")[0] ?? "").matchAll(/\| "(\w+)"/g)].map(([, member = ""]) => member);
}

describe("the table of abuse", () => {
  it("names for each a bound, a place, a test and how it is counted", () => {
    expect(rows.length).toBeGreaterThan(12);
    for (const cells of rows) {
      expect(cells, cells[0]).toHaveLength(5);
      expect(cells[3], cells[0]).toMatch(/`test\/\S+\.test\.ts`/);
    }
  });

  it("has every reason for which input of peers and nodes are refused", () => {
    const reasons = [...membersOf("InputRefusal"), ...membersOf("NodeRefusal")];
    expect(reasons.length).toBeGreaterThan(15);
    expect(reasons.filter((reason) => !counted.has(reason))).toEqual([]);
  });

  it("has no reason that the source does not have", () => {
    const source = readdirSync(SOURCE, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts"))
      .map((path) => readFileSync(join(SOURCE, path), "utf8"))
      .join("\n");
    expect([...counted].filter((reason) => !source.includes(`"${reason}"`))).toEqual([]);
  });
});
