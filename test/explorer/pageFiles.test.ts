import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { PAGE_FILES } from "../../src/explorer/pageFiles.ts";

const root = resolve(import.meta.dirname, "..", "..");

it("the checked-in page is that of the sources", () => {
  const build = `import { pageFiles } from "./scripts/build/page.mjs"; process.stdout.write(await pageFiles());`;
  const built = execFileSync(process.execPath, ["--input-type=module", "--eval", build], {
    cwd: root,
    maxBuffer: 16 * 1024 * 1024,
  });
  const checkedIn = readFileSync(join(root, "src", "explorer", "pageFiles.ts"), "utf8");
  expect(built.toString() === checkedIn, "run `npm run page` after a change of src/explorer/page").toBe(true);
});

it("the whole page takes less than 150 KB, compressed", () => {
  const sizes = PAGE_FILES.map(({ path, text }) => ({ path, bytes: gzipSync(text, { level: 9 }).length }));
  const all = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  console.log(`the explorer's page: ${(all / 1000).toFixed(1)} KB compressed in ${sizes.length} files`);
  expect(all).toBeLessThan(150_000);
});

it("asks no other host and has no inline script or style", () => {
  const html = PAGE_FILES.find(({ path }) => path === "/index.html")?.text ?? "";
  expect(html).not.toMatch(/<script(?![^>]*\ssrc="\/assets\/)|<style|\sstyle=|\son\w+=/);
  expect(html).not.toMatch(/(src|href)="(https?:)?\/\//);
});
