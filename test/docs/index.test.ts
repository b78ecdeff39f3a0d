import { readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { readDocument, readDocuments, root } from "./documents.ts";

const INDEX = "docs/README.md";
const BYTES_A_MINUTE = 1000;

const index = readDocument(INDEX);

/** Paths of the documents that a piece of the index links to. */
function linkedIn(text: string): readonly string[] {
  return [...text.matchAll(/\]\(([^)#\s]+\.md)(?:#[\w-]*)?\)/g)].map(([, target = ""]) =>
    relative(root, join(root, dirname(INDEX), target)),
  );
}

/** Rows with minutes, by the first document that each links to, except rows about a part of a page ("up to"). */
const timed = [...index.matchAll(/^\|.*\|$/gm)].flatMap(([row]) => {
  const cells = row.split("|").map((cell) => cell.trim());
  const minutes = cells.find((cell) => /^\d+$/.test(cell));
  const [path] = linkedIn(row);
  return minutes === undefined || path === undefined || cells[1]?.includes("up to") === true
    ? []
    : [{ path, minutes: Number(minutes) }];
});

describe("the index of documents", () => {
  it("names every document", () => {
    const named = new Set(linkedIn(index));
    const missing = readDocuments()
      .map(({ path }) => path)
      .filter((path) => path !== INDEX && !named.has(path));
    expect(missing).toEqual([]);
  });

  it("gives the minutes that each takes, a kilobyte a minute", () => {
    const wrong = timed
      .map(({ path, minutes }) => ({
        path,
        minutes,
        measured: statSync(join(root, path)).size / BYTES_A_MINUTE,
      }))
      .filter(({ minutes, measured }) => Math.abs(minutes - measured) > Math.max(2, measured / 5));
    expect(timed.length).toBeGreaterThan(30);
    expect(wrong).toEqual([]);
  });

  it("tells a newcomer to the code which tenth to read", () => {
    const whole = readDocuments().reduce((sum, { text }) => sum + text.length, 0);
    const [part = ""] = readFileSync(join(root, "docs/architecture.md"), "utf8").split(
      "\n## Whose answer is right",
    );
    const first = readDocument("CONTRIBUTING.md") + readDocument("docs/glossary.md") + part;
    expect(first.length).toBeLessThan(whole / 10);
  });
});
