import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, it } from "vitest";
import { root } from "./documents.ts";

/** First words that leave a comment without its subject: "Of the parent." says nothing to those who read it alone. */
const LEANING = "(?:Of|By|At|As)\\b";
/** The first words of a block may be on the line below its beginning. */
const BLOCK = `/\\*(?:\\s|\\*(?!/))*${LEANING}`;
/** The first of several lines counts, also one behind code. The slashes of an address such as https:// begin no comment. */
const LINE = `(?<!^[ \\t]*//.*\\n[ \\t]*|\\S)//[ \\t]*${LEANING}`;
const LEANING_COMMENT = new RegExp(`${BLOCK}|${LINE}`, "gim");

/** Generated files, which have no comments but much text. */
const GENERATED = ["src/evm/coreModules.ts", "src/explorer/pageFiles.ts", "src/primitives/keccakModule.ts"];

function leaningComments(path: string, text: string): readonly string[] {
  return [...text.matchAll(LEANING_COMMENT)].map(
    ({ 0: comment, index }) =>
      `${path}:${text.slice(0, index).split("\n").length}: ${comment.replaceAll(/[\s*/]+/g, " ").trim()} …`,
  );
}

it("no comment of the source begins with Of, By, At or As", () => {
  const files = readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:ts|tsx|mts|mjs|css)$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((path) => !GENERATED.includes(path));
  expect(files.length).toBeGreaterThan(1000);
  expect(files.flatMap((path) => leaningComments(path, readFileSync(join(root, path), "utf8")))).toEqual([]);
});

it("such a comment is found wherever it can stand", () => {
  const toy = [
    "/** Of the parent. */",
    "/**",
    " * As readHeader, in steps.",
    " */",
    "// By number, of which there are few.",
    "const a = 1; // at most three",
    "/* At the end. */",
    "// Asks the pool, as",
    "// of the head.",
    "const b = 'https://example.org'; // It is not asked.",
    "/** Bytes as they are on disk. */",
    "const c = d / 2;",
  ].join("\n");
  expect(leaningComments("toy.ts", toy)).toEqual([
    "toy.ts:1: Of …",
    "toy.ts:2: As …",
    "toy.ts:5: By …",
    "toy.ts:6: at …",
    "toy.ts:7: At …",
  ]);
});
