import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { DEV_GENESIS_FILE, DEV_VALIDATOR_KEY } from "../../src/config/devNetwork.ts";
import { judgeLostEnd, readVotesOf } from "../../src/consensus/lostEnd.ts";
import { encodeLastSigned } from "../../src/ibft/lastSigned.ts";
import { nothingAbove } from "../../src/ibft/lostVotes.ts";
import { silentLogger } from "../../src/observability/logger.ts";
import type { Address } from "../../src/primitives/address.ts";
import { addressOfPrivateKey } from "../../src/primitives/secp256k1.ts";
import { openChainDatabase } from "../../src/storage/chainDatabase.ts";
import { readHead } from "../../src/storage/commitRecord.ts";
import { DamagedData } from "../../src/storage/database.ts";
import { LostEnd, type LostEndAction } from "../../src/storage/headMarker.ts";
import { keptLogs } from "../../src/storage/leveldb/keptLog.ts";
import { openVoteLog } from "../../src/storage/votes/voteLog.ts";
import type { Digest } from "../../src/types/blockHash.ts";
import { aChain } from "../builders/aChain.ts";
import { FOUR_KEYS, GENESIS_OF_FOUR } from "../builders/fourValidators.ts";
import { createHandClock } from "../builders/handClock.ts";
import { commitBlock } from "../builders/sealedChain.ts";
import { account } from "../builders/testAccounts.ts";
import { generator } from "../storage/random.ts";
import { IS_THOROUGH } from "../thorough.ts";

const SEED = Number(process.env["IBEX_SEED"] ?? Date.now() % 1_000_000);
const CUTS = IS_THOROUGH ? 120 : 6;
const BLOCKS = 6;

/** A data folder whose node is stopped, and the length of its newest log before the last block came. */
interface Stopped {
  readonly folder: string;
  readonly address: Address;
  readonly bytesBefore: number;
  readonly bytes: number;
}

/** What a node does about a lost end, and what its operator reads. */
interface Expected {
  readonly action: LostEndAction;
  readonly advice?: RegExp;
}

const FOUR = FOUR_KEYS.map(({ privateKey }) => privateKey);
const TOLD: Expected = {
  action: "refused",
  advice:
    /Stop the node and delete only head\.log .*A sole validator must not do that.*or if that start is refused, delete chain\//,
};

const nodes = new Map<string, readonly [Stopped, Expected]>();

beforeAll(async () => {
  const dev = readFileSync(DEV_GENESIS_FILE, "utf8");
  const sole = addressOfPrivateKey(DEV_VALIDATOR_KEY);
  const [first] = FOUR_KEYS;
  const follower = await aStoppedNode(GENESIS_OF_FOUR, account(5).address, FOUR, undefined);
  const validator = await aStoppedNode(GENESIS_OF_FOUR, first.address, FOUR, BigInt(BLOCKS));
  const forgetful = await aStoppedNode(GENESIS_OF_FOUR, first.address, FOUR, undefined);
  const only = await aStoppedNode(dev, sole, [DEV_VALIDATOR_KEY], BigInt(BLOCKS));
  nodes.set("a follower", [follower, { action: "fetched" }]);
  nodes.set("one of four validators", [validator, { action: "restored" }]);
  nodes.set("a validator without votes", [forgetful, TOLD]);
  nodes.set("the only validator", [only, TOLD]);
});

describe.each(["a follower", "one of four validators", "a validator without votes", "the only validator"])(
  "a data folder of %s",
  (whose) => {
    const node = (): readonly [Stopped, Expected] => {
      const found = nodes.get(whose);
      if (found === undefined) throw new Error("no such node");
      return found;
    };

    it(`whose newest file is cut: what can be done by itself is, else the mildest cure is told first (IBEX_SEED=${SEED})`, async () => {
      const [stopped, expected] = node();
      const { bytes, bytesBefore } = stopped;
      const random = generator(SEED);
      const cuts = Array.from({ length: CUTS }, () => 1 + random.below(bytes));
      for (const cut of [1, 7, bytes - bytesBefore, bytes - bytesBefore + 1, bytes, ...cuts])
        await expectAnswer(stopped, expected, `cut by ${cut}`, (log) => truncateSync(log, bytes - cut));
    });

    it("whose last record is zeros: the same", async () => {
      const [stopped, expected] = node();
      await expectAnswer(stopped, expected, "zeros", (log) =>
        writeFileSync(log, readFileSync(log).fill(0, stopped.bytesBefore)),
      );
    });

    it("whose newest file is missing, or another one is damaged: it is told, and nothing is gone on with", async () => {
      const [stopped] = node();
      const harms: readonly ((log: string) => void)[] = [
        (log) => rmSync(log),
        (log) => {
          const table = log.replace(/\d+\.log$/, tableIn(log));
          writeFileSync(table, readFileSync(table).fill(0xff, 60, 70));
        },
      ];
      for (const harm of harms) {
        const error = await failureOf(stopped, harm);
        expect(error).toBeInstanceOf(DamagedData);
        expect(error).not.toBeInstanceOf(LostEnd);
        expect((error as Error).message).toMatch(/\.(log is missing|ldb: ).*`ibex database check`/);
        expect((error as Error).message).not.toMatch(/alone/);
      }
    });
  },
);

async function expectAnswer(
  stopped: Stopped,
  { action, advice }: Expected,
  what: string,
  harm: (log: string) => void,
): Promise<void> {
  const folder = copyOf(stopped, harm);
  const left = readFileSync(newestLog(folder));
  try {
    // A second start, as after a kill, decides the same; only a follower goes on at once.
    for (const start of [1, 2]) {
      const context = `${what}, start ${start}`;
      const opened = await openAs(stopped, folder).catch((error: unknown) => error);
      if (action === "refused") {
        expect(opened, context).toBeInstanceOf(LostEnd);
        expect((opened as Error).message, context).toMatch(advice ?? /./);
      } else {
        const { database, lost, close } = opened as Awaited<ReturnType<typeof openAs>>;
        expect(readHead(database)?.number, context).toBeLessThan(BigInt(BLOCKS));
        expect(lost?.number, context).toBe(action === "restored" ? BigInt(BLOCKS) : undefined);
        await close();
      }
      const kept = keptLogs(join(folder, "chain"));
      expect(kept, context).toHaveLength(action === "fetched" ? 0 : 1);
      for (const log of kept) expect(readFileSync(log), context).toEqual(left);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function failureOf(stopped: Stopped, harm: (log: string) => void): Promise<unknown> {
  const folder = copyOf(stopped, harm);
  try {
    return await openAs(stopped, folder).then(
      () => undefined,
      (error: unknown) => error,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function copyOf({ folder }: Stopped, harm: (log: string) => void): string {
  const copy = `${folder}-copy`;
  cpSync(folder, copy, { recursive: true });
  harm(newestLog(copy));
  return copy;
}

function openAs({ address }: Stopped, folder: string) {
  const readVotes = () => readVotesOf(join(folder, "votes.log"));
  return openChainDatabase({
    ...pathsIn(folder),
    judgeLostEnd: (end) =>
      judgeLostEnd(end, { addresses: [address], readVotes, hasPeers: true, logger: silentLogger }),
  });
}

/** Writes half of the blocks in one start and half in another, so that a table has the first ones. */
async function aStoppedNode(
  genesis: string,
  address: Address,
  keys: readonly Uint8Array[],
  votedAt: bigint | undefined,
): Promise<Stopped> {
  const folder = mkdtempSync(join(tmpdir(), "ibex-lost-end-"));
  const clock = createHandClock(1_700_000_000_000);
  let bytesBefore = 0;
  for (let start = 0; start < 2; start++) {
    const { database, headMarker, close } = await openChainDatabase(pathsIn(folder));
    const builder = addressOfPrivateKey(keys[0] ?? new Uint8Array(32));
    const { chain } = await aChain({ genesis, database, headMarker, clock, builder });
    for (let count = 0; count < BLOCKS / 2; count++) {
      clock.advanceBy(1_000);
      bytesBefore = statSync(newestLog(folder)).size;
      await commitBlock(chain, BigInt(clock.nowMs() / 1_000), [], { keys });
    }
    await close();
  }
  if (votedAt !== undefined) await vote(folder, votedAt);
  return { folder, address, bytesBefore, bytes: statSync(newestLog(folder)).size };
}

async function vote(folder: string, height: bigint): Promise<void> {
  const votes = await openVoteLog(join(folder, "votes.log"));
  const digest = new Uint8Array(32).fill(7) as Digest;
  await votes.write(encodeLastSigned({ ...nothingAbove(height), digest }));
  await votes.close();
}

function tableIn(log: string): string {
  return readdirSync(dirname(log)).find((name) => name.endsWith(".ldb")) ?? "none";
}

function newestLog(folder: string): string {
  const logs = readdirSync(join(folder, "chain")).filter((name) => /^\d+\.log$/.test(name));
  return join(folder, "chain", logs.sort().at(-1) ?? "none");
}

function pathsIn(folder: string): { readonly path: string; readonly headFile: string } {
  return { path: join(folder, "chain"), headFile: join(folder, "head.log") };
}
