import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, expect, it, onTestFinished } from "vitest";
import { concatBytes, type Hex } from "../../../src/primitives/hex.ts";
import { registerBlocks } from "../../builders/registerChain.ts";
import { generator } from "../../storage/random.ts";
import { IS_THOROUGH } from "../../thorough.ts";
import {
  freePort,
  pause,
  runProgram,
  startNodeProcess,
  temporaryFolder,
  until,
} from "../harness/nodeProcess.ts";

const FULL_ROUNDS = 4;
/** A separate disk in memory for the long run, where the system allows mounting one (as root, outside of most containers). */
const DISK = join(temporaryFolder(), "disk");
const DISK_MB = 96;
mkdirSync(DISK);
const isMounted =
  IS_THOROUGH && spawnSync("mount", ["-t", "tmpfs", "-o", `size=${DISK_MB}m`, "tmpfs", DISK]).status === 0;
const itOnSmallDisk = isMounted ? it : it.skip;
if (IS_THOROUGH && !isMounted)
  console.warn("test/cluster/history/smallDisk is skipped: no disk can be mounted here");

afterAll(() => {
  if (isMounted) spawnSync("umount", [DISK]);
});

const BALLAST = join(DISK, "ballast");

/** Fills the disk so that this much space is free. */
function leaveFree(megabytes: number): void {
  rmSync(BALLAST, { force: true });
  const { bavail, bsize } = statfsSync(DISK);
  const bytes = bavail * bsize - megabytes * 1024 ** 2;
  if (bytes <= 0) return;
  try {
    writeFileSync(BALLAST, new Uint8Array(bytes));
  } catch (error) {
    // The node writes meanwhile, so that the disk may be full before all of this is.
    if (megabytes > 0 || (error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
}

/** Empties the disk, because a test may be retried. */
beforeEach(() => {
  for (const name of readdirSync(DISK)) rmSync(join(DISK, name), { recursive: true });
});

itOnSmallDisk(
  "produces no blocks on an almost full disk, but answers, and resumes by itself when there is space",
  async () => {
    const node = await startNodeProcess({
      dataPath: join(DISK, "paused"),
      options: ["--min-free-disk-mb=32"],
    });
    onTestFinished(() => node.kill());
    const height = async () => Number(await node.rpc<Hex>("eth_blockNumber"));
    await until(async () => ((await height()) > 0 ? true : undefined), "a block");
    leaveFree(16);
    await until(
      async () => (node.output().includes("the disk is almost full: ") ? true : undefined),
      "a line about the disk",
    );
    await until(async () => ((await node.rpc("eth_mining")) === false ? true : undefined), "the pause");
    const readiness = async () => (await fetch(`${node.httpUrl}/readiness?minPeers=0`)).status;
    expect(await readiness()).toBe(503);
    const pausedAt = await height();
    expect(await node.rpc("eth_getBlockByNumber", ["latest", false])).toMatchObject({
      number: `0x${pausedAt.toString(16)}`,
    });
    leaveFree(64);
    await until(async () => ((await height()) > pausedAt ? true : undefined), "another block");
    expect(await readiness()).toBe(200);
    expect(await node.stop()).toBe(0);
    expect(node.output()).toContain("there is room on the disk again: blocks are made again");
  },
);

itOnSmallDisk(
  "ends with 74 when the disk is full while votes and blocks are written, and when it starts on it",
  async () => {
    const dataPath = join(DISK, "full");
    leaveFree(64);
    const node = await startNodeProcess({ dataPath, options: ["--min-free-disk-mb=0"] });
    onTestFinished(() => node.kill());
    await until(
      async () => (Number(await node.rpc<Hex>("eth_blockNumber")) > 0 ? true : undefined),
      "a block",
    );
    leaveFree(0);
    expect(await node.exit).toBe(74);
    expect(node.output()).toMatch(
      /the node stops because of a fatal error: .*The disk is full: make room, then start the node again/,
    );

    for (const folder of [dataPath, join(DISK, "fresh")]) {
      const ports = [`--rpc-http-port=${await freePort()}`, "--rpc-ws-port=0"];
      const refused = runProgram([`--data-path=${folder}`, ...ports]);
      expect(await refused.exit).toBe(74);
      expect(refused.output()).toContain("The disk is full: make room, then start the node again.");
    }

    leaveFree(64);
    const restarted = await startNodeProcess({ dataPath, options: ["--min-free-disk-mb=0"] });
    const known = [...node.output().matchAll(/"number":(\d+),"hash":"(0x[0-9a-f]{64})"/g)];
    expect(known.length).toBeGreaterThan(0);
    for (const [, number, hash] of known)
      expect(
        await restarted.rpc("eth_getBlockByNumber", [`0x${Number(number).toString(16)}`, false]),
      ).toMatchObject({ hash });
    expect(await restarted.stop()).toBe(0);
  },
);

itOnSmallDisk(
  "ends with 74 when the disk is full while old blocks and states are removed, is sound, and goes on when there is room",
  async () => {
    const dataPath = join(DISK, "pruning");
    mkdirSync(dataPath);
    const random = generator(7);
    const file = join(dataPath, "blocks");
    writeFileSync(file, concatBytes(...(await registerBlocks({ blocks: 1_300, transactions: 8 }, random))));
    const ibex = async (...words: readonly string[]): Promise<string> => {
      const run = runProgram([`--data-path=${dataPath}`, ...words]);
      expect(await run.exit, run.output()).toBe(0);
      return run.output();
    };
    await ibex("blocks", "import", file);
    rmSync(file);
    const options = [
      "--state-history=128",
      "--block-history=1024",
      "--min-free-disk-mb=0",
      "--logging=DEBUG",
    ];
    for (let round = 0; round < FULL_ROUNDS; round++) {
      leaveFree(40);
      const node = await startNodeProcess({ dataPath, options });
      onTestFinished(() => node.kill());
      // Nothing, a first part or all of a removal is done by then.
      await pause(random.below(6_000));
      leaveFree(0);
      expect(await node.exit).toBe(74);
      expect(node.output()).toContain("The disk is full: make room, then start the node again.");
      leaveFree(40);
      expect(await ibex("database", "check")).toContain("The database is sound.");
    }
    const node = await startNodeProcess({ dataPath, options });
    onTestFinished(() => node.kill());
    await until(
      async () => (/History.*whole blocks from #2[67]\d/.test(await ibex("status")) ? true : undefined),
      "the start",
    );
    await until(
      async () => (/History.*being removed/.test(await ibex("status")) ? undefined : true),
      "the end of the removal",
    );
    expect(await node.stop()).toBe(0);
    expect(await ibex("database", "check")).toContain("The database is sound.");
  },
);
