import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { unpackArchive } from "../../fixtures/archive.ts";
import { itIfThorough } from "../../thorough.ts";
import { rpc, runProgram, startNodeProcess, temporaryFolder } from "../harness/nodeProcess.ts";

const FOLDERS = join(import.meta.dirname, "..", "..", "fixtures", "folders");

interface Expected {
  readonly head: number;
  readonly hash: string;
  readonly answers: readonly {
    readonly method: string;
    readonly params: readonly unknown[];
    readonly result: unknown;
  }[];
}

/** Data folders that earlier versions wrote and closed, with what they answered (test/fixtures/README.md). */
describe("a data folder of an earlier version", () => {
  itIfThorough.each(readdirSync(FOLDERS).filter((name) => name.endsWith(".br")))(
    "is sound, and answers as it did: %s",
    async (name) => {
      const folder = temporaryFolder();
      unpackArchive(readFileSync(join(FOLDERS, name)), folder);
      const dataPath = join(folder, "data");
      const { head, hash, answers } = JSON.parse(
        readFileSync(join(folder, "expected.json"), "utf8"),
      ) as Expected;
      expect(answers.length).toBeGreaterThan(100);
      const info = await ibex(dataPath, "info");
      expect(info).toContain(`head number: ${head}\nhead hash: ${hash}\n`);
      expect(await ibex(dataPath, "check")).toContain("The database is sound.");
      const node = await startNodeProcess({
        dataPath,
        options: [
          `--genesis-file=${join(folder, "genesis.json")}`,
          "--p2p-port=0",
          "--rpc-http-enabled",
          "--rpc-http-api=ETH,NET,WEB3,DEBUG,IBFT",
          "--revert-reason-enabled",
        ],
      });
      for (const { method, params, result } of answers)
        expect(await rpc(node.httpUrl, method, params), `${method} ${JSON.stringify(params)}`).toEqual(
          result,
        );
      expect(await node.stop()).toBe(0);
    },
  );
});

async function ibex(dataPath: string, word: string): Promise<string> {
  const program = runProgram([`--data-path=${dataPath}`, "database", word]);
  expect(await program.exit, program.output()).toBe(0);
  return program.output();
}
