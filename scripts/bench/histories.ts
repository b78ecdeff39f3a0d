import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import type { Chain } from "../../src/chain/createChain.ts";
import { concatBytes } from "../../src/primitives/hex.ts";
import { removeStates } from "../../src/state/removal/stateRemoval.ts";
import type { DatabaseOnDisk } from "../../src/storage/database.ts";
import { BlockRemoval } from "../../src/storage/removal/blockRemoval.ts";
import { bytesByKind, fileBytesOf } from "../../test/builders/diskBytes.ts";
import { makeChain } from "../../test/builders/madeChain.ts";

export interface HistoriesSettings {
  /** All of them are in the genesis block, and transfers go to any of them. */
  readonly accounts: number;
  readonly blocks: number;
  /** Transfers in each block. */
  readonly perBlock: number;
  /** Blocks that `--block-history` keeps. */
  readonly keptBlocks: number;
}

interface Kept {
  readonly states?: bigint;
  readonly blocks?: bigint;
}

const KEPT_STATES = 512n;
/** Old states and blocks are removed after so many blocks, as a quarter of the states is in a node. */
const ROUND_BLOCKS = 128;
const POINTS = 10;
/** Kinds that grow with transactions for as long as their block is kept, with blocks for ever, and with the state. */
const OF_TRANSACTIONS = ["body", "receipts", "transaction"];
const OF_BLOCKS = ["header", "blockNumber", "commit", "voteTally"];
const OF_STATE = ["trie", "base", "account", "slot", "code", "preimage", "stateRecord", "stateHead"];

/** Prints how folders of made blocks grow: an archive, one with `--state-history`, and one with `--block-history` as well. */
export async function measureHistories(settings: HistoriesSettings): Promise<void> {
  const { accounts, blocks, perBlock, keptBlocks } = settings;
  console.log(`\n${blocks} blocks of ${perBlock} transfers among ${accounts} accounts, four validators`);
  await measure("every block and state", settings, {});
  await measure(`--state-history=${KEPT_STATES}`, settings, { states: KEPT_STATES });
  await measure(`--state-history=${KEPT_STATES} --block-history=${keptBlocks}`, settings, {
    states: KEPT_STATES,
    blocks: BigInt(keptBlocks),
  });
}

/** What one folder has at a height. */
interface Point {
  readonly block: number;
  readonly files: number;
  readonly kinds: ReadonlyMap<string, number>;
}

async function measure(name: string, settings: HistoriesSettings, kept: Kept): Promise<void> {
  const { accounts, blocks, perBlock } = settings;
  const folder = mkdtempSync(join(tmpdir(), "ibex-histories-"));
  const points: Point[] = [];
  let floor = "";
  const dataPath = join(folder, "data");
  try {
    await makeChain({
      folder,
      blocks,
      transactions: blocks * perBlock,
      validators: 4,
      reward: 0n,
      seed: 1,
      spread: "even",
      recipients: { count: accounts, isFunded: true },
      transfersOnly: true,
      hasVote: false,
      afterBlock: async ({ chain, database }) => {
        const number = Number(chain.head.header.number);
        if (number % ROUND_BLOCKS === 0) await remove(chain, database, kept);
        if (number % Math.ceil(blocks / POINTS) !== 0 && number !== blocks) return;
        await remove(chain, database, kept);
        points.push({
          block: number,
          files: fileBytesOf(dataPath),
          kinds: new Map(await bytesByKind(database)),
        });
        if (number === blocks) floor = floorOf(chain);
      },
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  print(name, settings, { points, floor });
}

/** Does at once what the threads of a node do beside its blocks. */
async function remove(chain: Chain, database: DatabaseOnDisk, { states, blocks }: Kept): Promise<void> {
  const { number } = chain.head.header;
  if (states === undefined || number <= states) return;
  await chain.keepStates(states);
  for await (const step of removeStates(database)) if (step.kind === "removed") await database.compact(step);
  if (blocks === undefined || number <= blocks) return;
  await chain.keepBlocks(blocks);
  const removal = removalOf(database);
  removal.startMoved(chain.historyStart.blocks);
  let isDone = false;
  while (!isDone) {
    const isMore = await removal.step();
    isDone = !(await removal.compactSome(!isMore)) && !isMore;
  }
}

const removals = new WeakMap<DatabaseOnDisk, BlockRemoval>();

/** One for each database: it counts what was removed since the last compaction. */
function removalOf(database: DatabaseOnDisk): BlockRemoval {
  const known = removals.get(database) ?? new BlockRemoval(database);
  removals.set(database, known);
  return known;
}

/** Least bytes of a transfer of the newest block: as it was signed, and compressed with all others of its block. */
function floorOf(chain: Chain): string {
  const block = chain.blockByNumber(chain.head.header.number);
  const raws = block?.transactions.map(({ raw }) => raw) ?? [];
  const all = concatBytes(...raws);
  const each = (bytes: Uint8Array): string => (bytes.length / raws.length).toFixed(0);
  return `as signed ${each(all)} bytes, compressed together ${each(deflateRawSync(all, { level: 9 }))}`;
}

function print(
  name: string,
  { accounts, perBlock, blocks }: HistoriesSettings,
  { points, floor }: { readonly points: readonly Point[]; readonly floor: string },
): void {
  console.log(`\n${name}`);
  const [last, middle] = [points.at(-1), points[Math.floor(points.length / 2) - 1]];
  if (last === undefined || middle === undefined) return;
  const added = last.block - middle.block;
  const growth = (kinds: readonly string[]): number => sumOf(last, kinds) - sumOf(middle, kinds);
  const parts = OF_TRANSACTIONS.map(
    (kind) => `${kind} ${(growth([kind]) / added / perBlock).toFixed(1)}`,
  ).join(", ");
  console.log(
    `  a transfer adds ${(growth(OF_TRANSACTIONS) / added / perBlock).toFixed(1)} bytes (${parts}; ${floor}), ` +
      `a block beside them ${(growth(OF_BLOCKS) / added).toFixed(0)}, the state after it ${(growth(OF_STATE) / added).toFixed(0)}`,
  );
  for (const point of [middle, last]) {
    const state = OF_STATE.map((kind) => [kind, sumOf(point, [kind]) / accounts] as const).filter(
      ([, bytes]) => bytes >= 0.5,
    );
    console.log(
      `  state at block ${point.block}: ${(sumOf(point, OF_STATE) / accounts).toFixed(0)} bytes an account: ` +
        state.map(([kind, bytes]) => `${kind} ${bytes.toFixed(0)}`).join(", "),
    );
  }
  const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);
  const headers = (point: Point): number => sumOf(point, OF_BLOCKS);
  console.log(
    `  MB of files, and without what stays of each block: ${points
      .map((point) => `${point.block}: ${megabytes(point.files)}, ${megabytes(point.files - headers(point))}`)
      .join("; ")} (of ${blocks} blocks)`,
  );
}

function sumOf({ kinds }: Point, of: readonly string[]): number {
  return of.reduce((sum, kind) => sum + (kinds.get(kind) ?? 0), 0);
}
