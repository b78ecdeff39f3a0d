import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/** What a path in the documents begins with; `dist` is missing here, because a fresh clone has none. */
export const FOLDERS = ["src", "test", "scripts", "config", "genesis", "docs"];

/** A path that ends before a placeholder (`*`, `<name>`, `…`, `{`) stands for its folder. */
const FROM_THE_ROOT = new RegExp(`(?<![\\w./-])((?:${FOLDERS.join("|")})/[\\w./-]*)([*<…{]?)`, "g");

/** `stateMachine.ts`, `ibft/stateMachine.ts`: as people write it who mean `src/ibft/stateMachine.ts`. */
const SOURCE_FILE = /^[\w./-]+\.ts$/;

/** A Markdown document of this repository. */
export interface Document {
  /** From the root of the repository. */
  readonly path: string;
  readonly text: string;
}

/** The text of one document, by its path from the root. */
export function readDocument(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

/** Everything written for readers of the repository. The changelog is not here: it speaks of paths that are gone. */
export function readDocuments(): readonly Document[] {
  const pages = readdirSync(join(root, "docs"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".md"))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
  const paths = ["README.md", "CONTRIBUTING.md", "SECURITY.md", ...pages];
  return paths.map((path) => ({ path, text: readDocument(path) }));
}

/** Inline code and fenced blocks, each without its backticks. */
export function codeIn(text: string): readonly string[] {
  const blocks: string[] = [];
  const rest = text.replaceAll(/^ *```[^\n]*\n([\s\S]*?)^ *```$/gm, (_, block: string) => {
    blocks.push(block);
    return "";
  });
  return [...blocks, ...[...rest.matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code)];
}

/** Text outside of code: links are looked for there. */
export function proseIn(text: string): string {
  return text.replaceAll(/^ *```[^\n]*\n[\s\S]*?^ *```$/gm, "").replaceAll(/`[^`\n]*`/g, "");
}

/** The anchors of a document's headings, as GitHub derives them. */
export function anchorsIn(text: string): ReadonlySet<string> {
  return new Set(headingsIn(text).map(anchorOf));
}

/** Headings of all levels, without their number signs. */
export function headingsIn(text: string): readonly string[] {
  const withoutBlocks = text.replaceAll(/^ *```[^\n]*\n[\s\S]*?^ *```$/gm, "");
  return [...withoutBlocks.matchAll(/^#+ +(.+?) *$/gm)].map(([, heading = ""]) => heading);
}

function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, "")
    .replaceAll(" ", "-");
}

/** The paths of the repository that a piece of code names, without line numbers and placeholders. */
export function pathsNamedIn(code: string): readonly string[] {
  if (SOURCE_FILE.test(code)) return [code];
  return [...code.matchAll(FROM_THE_ROOT)].map(([, path = "", placeholder]) =>
    placeholder === "" ? path.replace(/[./]+$/, "") : dirname(`${path}x`),
  );
}
