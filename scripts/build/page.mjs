/**
 * `npm run page`: bundles the explorer's page (src/explorer/page: TypeScript, Preact) and writes src/explorer/pageFiles.ts,
 * which is checked in, so that a start needs neither its packages nor the time to bundle them. The same sources make the same
 * bytes (test/explorer/pageFiles.test.ts).
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const page = join(root, "src", "explorer", "page");
const PAGE_FILES = join(root, "src", "explorer", "pageFiles.ts");

/** The text of src/explorer/pageFiles.ts. */
export async function pageFiles() {
  const scripts = await bundledScripts();
  const style = { path: named("style", "css", styles()), type: "text/css; charset=utf-8", text: styles() };
  const entry = scripts.find(({ isEntry }) => isEntry);
  const html = readFileSync(join(page, "index.html"), "utf8")
    .replace("STYLE", style.path)
    .replace("SCRIPT", entry.path);
  const files = [
    { path: "/index.html", type: "text/html; charset=utf-8", text: html },
    { path: "/favicon.svg", type: "image/svg+xml", text: readFileSync(join(page, "favicon.svg"), "utf8") },
    style,
    ...scripts,
  ];
  const entries = files.map(
    ({ path, type, text }) =>
      `  {\n    path: ${JSON.stringify(path)},\n    type: ${JSON.stringify(type)},\n    tag: ${JSON.stringify(hashOf(text))},\n    text: ${JSON.stringify(text)},\n  },\n`,
  );
  return `// Made by \`npm run page\` from src/explorer/page.

/** A file of the page. */
export interface PageFile {
  readonly path: string;
  readonly type: string;
  /** Hash of its text. */
  readonly tag: string;
  readonly text: string;
}

export const PAGE_FILES: readonly PageFile[] = [
${entries.join("")}];
`;
}

async function bundledScripts() {
  const bundle = await rolldown({
    cwd: root,
    platform: "browser",
    input: join(page, "main.tsx"),
  });
  const { output } = await bundle.generate({
    format: "esm",
    minify: true,
    entryFileNames: "assets/[name]-[hash].js",
    chunkFileNames: "assets/[name]-[hash].js",
  });
  await bundle.close();
  return output
    .map(({ fileName, code, isEntry }) => ({
      path: `/${fileName}`,
      type: "text/javascript; charset=utf-8",
      text: code,
      isEntry,
    }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** The style sheets, in the order of their names, after that of the plots. */
function styles() {
  const plots = readFileSync(join(root, "node_modules", "uplot", "dist", "uPlot.min.css"), "utf8");
  const own = readdirSync(join(page, "styles"))
    .filter((name) => name.endsWith(".css"))
    .sort()
    .map((name) => readFileSync(join(page, "styles", name), "utf8"));
  return [plots, ...own].map(compact).join("\n");
}

/** Without comments, line breaks and indentation. */
function compact(css) {
  return css
    .replace(/\/\*.*?\*\//gs, "")
    .replace(/\s*\n\s*/g, "")
    .replace(/\s*([{};,])\s*/g, "$1")
    .replace(/;}/g, "}");
}

function named(name, extension, text) {
  return `/assets/${name}-${hashOf(text)}.${extension}`;
}

function hashOf(text) {
  return createHash("sha256").update(text).digest("base64url").slice(0, 10);
}

if (basename(process.argv[1] ?? "") === "page.mjs") writeFileSync(PAGE_FILES, await pageFiles());
