import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createTraceFolder } from "../../../src/node/dataFolder/traceFolder.ts";
import { temporaryFolder } from "../../storage/temporaryFolder.ts";

const LIMITS = { bytes: 100, files: 10 };
const GREEDY = "192.0.2.1";
const MODEST = "192.0.2.2";

function writer(bytes: number, folder = temporaryFolder()) {
  const write = createTraceFolder(folder, LIMITS);
  let count = 0;
  return {
    folder,
    write: async (remoteHost: string): Promise<boolean> =>
      (await write(`trace-${count++}`, [new Uint8Array(bytes)], remoteHost)) !== undefined,
  };
}

async function written(write: (remoteHost: string) => Promise<boolean>, remoteHost: string): Promise<number> {
  let files = 0;
  while (await write(remoteHost)) files++;
  return files;
}

it.each([
  ["bytes", 10],
  ["files", 1],
])("one host that writes trace files without end leaves half of the %s to others", async (_, bytes) => {
  const { write } = writer(bytes);
  expect(await written(write, GREEDY)).toBe(5);
  expect(await written(write, MODEST)).toBe(3);
  expect(await write("192.0.2.3")).toBe(true);
});

it("many at once have no more than their share", async () => {
  const { write } = writer(10);
  const all = await Promise.all(Array.from({ length: 20 }, () => write(GREEDY)));
  expect(all.filter((isWritten) => isWritten)).toHaveLength(5);
});

it("files of earlier runs count for nobody, and removed ones give room back", async () => {
  const { folder, write } = writer(10);
  mkdirSync(join(folder, "traces"));
  const earlier = join(folder, "traces", "earlier");
  writeFileSync(earlier, new Uint8Array(80));
  expect(await written(write, GREEDY)).toBe(1);
  rmSync(earlier);
  expect(await written(write, GREEDY)).toBe(4);
});
