import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readSourceFiles } from "../../scripts/structure/sourceFiles.ts";
import { temporaryFolder } from "../storage/temporaryFolder.ts";

it("sees each way in which a file can import another, and which of them run", () => {
  const root = temporaryFolder();
  mkdirSync(join(root, "chain"));
  const text = [
    'import "./first.ts";',
    'import { second } from "./second.ts";',
    "import {",
    "  third,",
    '} from "../state/third.ts";',
    'import type { Fourth } from "./fourth.ts";',
    'export type { Fifth } from "./fifth.ts";',
    'export { sixth } from "./sixth.ts";',
    'import * as seventh from "node:fs";',
    'import eighth from "ws";',
    "export async function load(): Promise<void> {",
    '  const { ninth } = await import("./ninth.ts");',
    '  void import("./tenth.ts").then(() => ninth);',
    "}",
    'export type Eleventh = typeof import("./eleventh.ts");',
  ].join("\n");
  writeFileSync(join(root, "chain", "all.ts"), text);
  const [file] = readSourceFiles(root);
  expect(file?.room).toBe("chain");
  const targets = (kind: string): string[] | undefined =>
    file?.imports.filter((each) => each.kind === kind).map(({ target }) => target);
  expect(targets("value")).toEqual([
    "chain/first.ts",
    "chain/second.ts",
    "state/third.ts",
    "chain/sixth.ts",
    "node:fs",
    "ws",
  ]);
  expect(targets("type")).toEqual(["chain/fourth.ts", "chain/fifth.ts", "chain/eleventh.ts"]);
  expect(targets("dynamic")).toEqual(["chain/ninth.ts", "chain/tenth.ts"]);
});
