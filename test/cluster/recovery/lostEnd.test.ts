import { readdirSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import type { Hex } from "../../../src/primitives/hex.ts";
import { TEST_HANG_MS } from "../../hang.ts";
import { itIfThorough } from "../../thorough.ts";
import { freePort, type NodeProcess, until } from "../harness/nodeProcess.ts";
import { type Member, prepareNetwork } from "../harness/validatorNetwork.ts";

interface Named {
  readonly number: Hex;
  readonly hash: Hex;
}

describe("a validator whose database has lost its last block", () => {
  itIfThorough(
    "waits, through a kill too, until the only other validator shows that very block, and takes part again",
    async () => {
      const network = await prepareNetwork({ validators: 2 });
      const [damaged, other] = network.members as [Member, Member];
      try {
        await network.startAll();
        await reaches(damaged, 3);
        const lost = await standing([damaged, other]);
        for (const { node } of network.members) await node?.kill();
        cutLastBlock(damaged.dataPath);

        for (const start of ["the first", "one after a kill"]) {
          const port = await freePort();
          const waiting = await network.start(damaged, [], ["--metrics-enabled", `--metrics-port=${port}`]);
          // It answers before it begins to take part.
          await until(
            async () => ((await isPausedForLostEnd(port)) === "1" ? true : undefined),
            `the wait of ${start}`,
          );
          expect(waiting.output(), start).toContain("this validator neither proposes nor votes");
          expect(await heightOf(damaged), start).toBeLessThan(Number(lost.number));
          expect(keptLogs(damaged), start).toHaveLength(1);
          await waiting.kill();
        }

        const port = await freePort();
        const again = await network.start(damaged, [], ["--metrics-enabled", `--metrics-port=${port}`]);
        await network.start(other);
        await reaches(damaged, Number(lost.number) + 3);
        await reaches(other, Number(lost.number) + 3);
        expect(await blockAt(damaged, lost.number)).toEqual(lost);
        expect(await blockAt(other, lost.number)).toEqual(lost);
        expect(again.output()).toContain("a peer has the lost blocks, with the seals of a quorum");
        expect(keptLogs(damaged)).toEqual([]);
        await until(
          async () => ((await isPausedForLostEnd(port)) === "0" ? true : undefined),
          "the end of the wait",
        );
        // A second start finds nothing missing.
        expect(await again.stop()).toBe(0);
        const sound = await network.start(damaged);
        expect(sound.output()).not.toContain("has lost its newest blocks");
        await reaches(damaged, Number(await heightOf(other)) + 1);
      } finally {
        await network.stopAll();
      }
    },
    TEST_HANG_MS,
  );

  itIfThorough(
    "restores several, while the others of four go on",
    async () => {
      const network = await prepareNetwork({ validators: 4 });
      const [damaged, other] = network.members as [Member, Member];
      try {
        await network.startAll();
        await reaches(damaged, 6);
        await damaged.node?.kill();
        const before = await heightOf(other);
        cutLog(damaged.dataPath, (bytes) => Math.floor(bytes / 2));
        await reaches(other, before + 2);
        await network.start(damaged);
        await reaches(damaged, before + 6);
        for (let number = 1; number <= before + 6; number++) {
          const tag: Hex = `0x${number.toString(16)}`;
          expect(await blockAt(damaged, tag)).toEqual(await blockAt(other, tag));
        }
        await until(
          async () => ((await proposes(damaged)) ? true : undefined),
          "a block of the restored one",
        );
      } finally {
        await network.stopAll();
      }
    },
    TEST_HANG_MS,
  );
});

/** Lets no further block be made, and waits until all have the same newest one. */
async function standing(members: readonly Member[]): Promise<Named> {
  for (const { node } of members) await node?.rpc("miner_stop");
  return until(async () => {
    const newest = await Promise.all(members.map((member) => blockAt(member, "latest")));
    await new Promise((resume) => setImmediate(resume));
    const later = await Promise.all(members.map((member) => blockAt(member, "latest")));
    const hashes = new Set([...newest, ...later].map(({ hash }) => hash));
    return hashes.size === 1 ? newest[0] : undefined;
  }, "one newest block");
}

async function proposes({ node, key }: Member): Promise<boolean> {
  const metrics =
    (await node?.rpc<readonly { address: Hex; lastProposedBlockNumber: Hex }[]>("ibft_getSignerMetrics", [
      "0x1",
      "latest",
    ])) ?? [];
  const own = metrics.find(({ address }) => address === `0x${Buffer.from(key.address).toString("hex")}`);
  const last = Number(own?.lastProposedBlockNumber ?? 0);
  return last >= Number(await node?.rpc<Hex>("eth_blockNumber")) - 4 && last > 0;
}

async function blockAt({ node }: Member, tag: string): Promise<Named> {
  const { number, hash } = await (node as NodeProcess).rpc<Named>("eth_getBlockByNumber", [tag, false]);
  return { number, hash };
}

/** The gauge that says whether the node neither proposes nor votes for this reason. */
async function isPausedForLostEnd(metricsPort: number): Promise<string | undefined> {
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  return /paused\{reason="lostEnd"\} (\d)/.exec(metrics)?.[1];
}

async function heightOf({ node }: Member): Promise<number> {
  return Number(await node?.rpc<Hex>("eth_blockNumber"));
}

async function reaches(member: Member, height: number): Promise<void> {
  await until(async () => ((await heightOf(member)) >= height ? true : undefined), `block ${height}`);
}

function cutLastBlock(dataPath: string): void {
  cutLog(dataPath, (bytes) => Math.max(0, bytes - 7));
}

function cutLog(dataPath: string, left: (bytes: number) => number): void {
  const folder = join(dataPath, "chain");
  for (const name of readdirSync(folder).filter((each) => each.endsWith(".log")))
    truncateSync(join(folder, name), left(statSync(join(folder, name)).size));
}

function keptLogs({ dataPath }: Member): readonly string[] {
  return readdirSync(join(dataPath, "chain")).filter((name) => name.endsWith(".log.kept"));
}
