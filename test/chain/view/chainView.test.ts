import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ChainReader } from "../../../src/chain/chainReader.ts";
import type { Chain } from "../../../src/chain/createChain.ts";
import type { HeadChange } from "../../../src/chain/onNewHead.ts";
import { ChainView } from "../../../src/chain/view/chainView.ts";
import { ShownHead } from "../../../src/chain/view/shownHead.ts";
import { DEV_GENESIS_FILE } from "../../../src/config/devNetwork.ts";
import { silentLogger } from "../../../src/observability/logger.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import type { WorldState } from "../../../src/state/worldState.ts";
import type { DatabaseOnDisk, DatabaseSnapshot } from "../../../src/storage/database.ts";
import { KEY_PREFIXES } from "../../../src/storage/keys.ts";
import { openLevelDatabase } from "../../../src/storage/leveldb/levelDatabase.ts";
import { decodeBlock } from "../../../src/types/block.ts";
import { aChain } from "../../builders/aChain.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { sealedDevBlocks } from "../../builders/sealedChain.ts";
import { account } from "../../builders/testAccounts.ts";

const LENGTH = 12;
const RICH = account(0).address;
const RECIPIENT = aTransaction().to ?? RICH;

let folder: string;
let database: DatabaseOnDisk;
let chain: Chain;
let world: WorldState;
let shownHead: ShownHead;
let view: ChainView;
let blocks: readonly Uint8Array[];
/** Headers that the view has read from the database. */
let headersRead = 0;
/** What the view has said about listeners of callers who wait. */
let awaited: boolean[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "ibex-view-"));
  database = await openLevelDatabase({ path: join(folder, "chain") });
  const made = await aChain({ genesis: readFileSync(DEV_GENESIS_FILE, "utf8"), database });
  ({ chain, world } = made);
  const bodies = Array.from({ length: LENGTH }, (_, nonce) => [aTransaction({ nonce: BigInt(nonce) })]);
  blocks = (await sealedDevBlocks(bodies)).slice(1);
  shownHead = new ShownHead();
  // As another thread has it: through the shared memory alone.
  const other = new ShownHead(shownHead.memory);
  awaited = [];
  view = new ChainView({
    database: { snapshot: countedSnapshot },
    spec: made.spec,
    shownHead: other,
    logger: silentLogger,
    onAwaited: (isAwaited) => awaited.push(isAwaited),
  });
});

afterEach(async () => {
  view.close();
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

function countedSnapshot(): DatabaseSnapshot {
  const snapshot = database.snapshot();
  return {
    ...snapshot,
    get(key) {
      if (key[0] === KEY_PREFIXES.header) headersRead++;
      return snapshot.get(key);
    },
  };
}

async function importBlocks(from: number, until: number): Promise<void> {
  for (const bytes of blocks.slice(from, until)) {
    const block = decodeBlock(bytes);
    const imported = block.ok ? await chain.importBlock(block.value) : block;
    if (!imported.ok) throw new Error(imported.error.message);
  }
}

/** What a caller could see of a chain. */
function seenOf(reader: ChainReader): unknown {
  const numbers = Array.from({ length: LENGTH + 3 }, (_, number) => BigInt(number));
  return numbers.map((number) => {
    const block = reader.blockByNumber(number);
    const [transaction] = block?.transactions ?? [];
    const state = reader.stateAt(number);
    return {
      header: reader.headerByNumber(number)?.hash,
      byHash: block && reader.headerByHash(block.hash)?.header.stateRoot,
      transactions: block?.transactions.map(({ hash }) => toHex(hash)),
      receipts: block?.receipts.length,
      located: transaction && reader.transactionByHash(transaction.hash)?.block.header.number,
      validators: reader.validatorsFor(number),
      accounts: state && [RICH, RECIPIENT].map((address) => state.account(address)),
      head: reader.head.header.number,
    };
  });
}

describe("a view of the chain", () => {
  it("shows what the chain shows, at each head", async () => {
    for (let length = 0; length <= LENGTH; length += 4) {
      await importBlocks(Math.max(0, length - 4), length);
      shownHead.show(chain.head.hash);
      expect(view.refresh()).toBe(true);
      expect(seenOf(view)).toEqual(seenOf(chain));
    }
    const proof = world.prove(4n, RICH, []);
    expect(proof).toBeDefined();
    expect(view.prove(4n, RICH, [])).toEqual(proof);
  });

  it("stays at its head, state included, until it is refreshed", async () => {
    await importBlocks(0, 2);
    shownHead.show(chain.head.hash);
    view.refresh();
    const before = seenOf(view);
    await importBlocks(2, 5);
    expect(view.isCurrent).toBe(true);
    expect(seenOf(view)).toEqual(before);
    shownHead.show(chain.head.hash);
    expect(view.isCurrent).toBe(false);
    expect(seenOf(view)).toEqual(before);
    expect(view.refresh()).toBe(true);
    expect(view.isCurrent).toBe(true);
    expect(view.stateAt(5n)?.account(RICH)?.nonce).toBe(5n);
  });

  it("shows no head that the main thread has not shown, although the database has it", async () => {
    await importBlocks(0, 1);
    expect(view.refresh()).toBe(false);
    shownHead.show(chain.head.hash);
    await importBlocks(1, 2);
    expect(view.refresh()).toBe(false);
    shownHead.show(chain.head.hash);
    expect(view.refresh()).toBe(true);
    expect(view.head.header.number).toBe(2n);
  });

  it("tells its listeners of the blocks that came, and of those that a rewind removed", async () => {
    const told: string[] = [];
    const tell = ({ head, added, removed }: HeadChange): void => {
      const numbers = (all: HeadChange["added"]) =>
        all.map((block) => `${block.header.number}(${block.receipts.length})`);
      told.push(`${head.header.number}: +${numbers(added)} -${numbers(removed)}`);
    };
    view.onHeadChanged("subscriptions", tell);
    await importBlocks(0, 3);
    shownHead.show(chain.head.hash);
    view.refresh();
    await importBlocks(3, 5);
    shownHead.show(chain.head.hash);
    view.refresh();
    await chain.rewind(3n);
    shownHead.show(chain.head.hash);
    view.refresh();
    expect(told).toEqual(["5: +4(1),5(1) -", "3: + -5(1),4(1)"]);
    expect(seenOf(view)).toEqual(seenOf(chain));
  });

  it("says while callers wait for heads, who hear of no head that was shown before", async () => {
    await importBlocks(0, 1);
    shownHead.show(chain.head.hash);
    view.refresh();
    view.onHeadChanged("feeSamples", () => undefined);
    expect(awaited).toEqual([]);
    // Nobody tells the view of this block.
    await importBlocks(1, 2);
    shownHead.show(chain.head.hash);
    const told: bigint[] = [];
    const stopFirst = view.onHeadChanged("subscriptions", ({ head }) => told.push(head.header.number));
    expect([view.isCurrent, awaited]).toEqual([true, [true]]);
    const stopSecond = view.onHeadChanged("inclusionWaits", () => undefined);
    await importBlocks(2, 3);
    shownHead.show(chain.head.hash);
    view.refresh();
    stopFirst();
    expect([told, awaited]).toEqual([[3n], [true]]);
    stopSecond();
    expect(awaited).toEqual([true, false]);
  });

  it("reads no more for many new blocks than for one, unless a listener asks for them", async () => {
    const readAfter = async (until: number, listener?: (change: HeadChange) => void): Promise<number> => {
      const stop = listener && view.onHeadChanged("subscriptions", listener);
      await importBlocks(Number(chain.head.header.number), until);
      shownHead.show(chain.head.hash);
      headersRead = 0;
      view.refresh();
      stop?.();
      return headersRead;
    };
    await readAfter(1);
    const ofOne = await readAfter(2, ({ head }) => void head);
    expect(await readAfter(7, ({ head }) => void head)).toBe(ofOne);
    expect(await readAfter(LENGTH, ({ added }) => void added.length)).toBeGreaterThan(LENGTH - 7);
  });
});
