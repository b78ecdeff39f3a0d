import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { headingsIn, readDocuments, root } from "./documents.ts";

/** `docs/page.md, Heading`: how a log line or a help text points an operator to a section. */
const HINT = /docs\/([\w/-]+\.md)(?:, "?([A-Z][\w ]*\w))?/g;

const documents = new Map(readDocuments().map(({ path, text }) => [path, headingsIn(text)]));

const hints = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .flatMap((path) => {
    // A sentence may be put together from several strings.
    const text = readFileSync(join(root, "src", path), "utf8").replaceAll(/" \+\n\s*"/g, "");
    return [...text.matchAll(HINT)].map(([, page = "", heading]) => ({
      path,
      page: `docs/${page}`,
      heading,
    }));
  });

describe("a hint that the node prints", () => {
  it("leads to a page that is there, and to one of its headings", () => {
    const wrong = hints.filter(({ page, heading }) => {
      const headings = documents.get(page);
      return headings === undefined || (heading !== undefined && !headings.includes(heading));
    });
    expect(wrong).toEqual([]);
  });

  it("is given where a chain has stalled, and where forgetting votes is refused", () => {
    const standing = hints.filter(({ heading }) => heading === "When the chain stalls");
    expect(standing.length).toBeGreaterThanOrEqual(3);
  });

  it("never sends anybody to the README, which is for newcomers", () => {
    const sent = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts"))
      .filter((path) => readFileSync(join(root, "src", path), "utf8").includes("README"));
    expect(sent).toEqual([]);
  });
});
