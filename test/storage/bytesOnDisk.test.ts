import { describe, expect, it } from "vitest";
import { addedBytes, diskBytesOf } from "../builders/diskBytes.ts";
import { type MadeChainSettings, makeChain } from "../builders/madeChain.ts";
import { itIfThorough, someOf } from "../thorough.ts";
import { temporaryFolder } from "./temporaryFolder.ts";

/** A part may be larger or smaller than documented by so much, and by a byte. */
const TOLERANCE = 0.01;

/**
 * What docs/operating/sizing.md is made of: chains of the same settings have the same bytes, so a part that grows is a
 * decision. Who changes a figure here changes it there.
 */
describe("bytes of keys and values on disk", () => {
  it.each(
    someOf([
      { validators: 4, header: 961 },
      { validators: 7, header: 1222 },
      { validators: 20, header: 2369 },
    ]),
  )("of an empty block of $validators validators, all of whom sealed", async ({ validators, header }) => {
    const empty = { validators, transactions: 0 };
    const added = await addedBetween({ ...empty, blocks: 100 }, { ...empty, blocks: 300 }, 200);
    expectBytes(added, { header, commit: 85, stateRecord: 57, blockNumber: 38 });
  });

  itIfThorough("of a block that pays its proposer a reward", async () => {
    const paid = { validators: 4, transactions: 0, reward: 2n * 10n ** 18n };
    const added = await addedBetween({ ...paid, blocks: 100 }, { ...paid, blocks: 300 }, 200);
    expectBytes(added, { header: 961, trie: 664, commit: 89, stateRecord: 57, blockNumber: 38 });
  });

  itIfThorough(
    "of a transaction, of which nine in ten are transfers to some of 50,000 accounts, ten in a block",
    async () => {
      const blocks = { validators: 4, blocks: 100 };
      const added = await addedBetween(
        { ...blocks, transactions: 0 },
        { ...blocks, transactions: 1000 },
        1000,
      );
      expectBytes(added, {
        trie: 1166,
        body: 129,
        preimage: 51,
        transaction: 49,
        account: 37,
        receipts: 20,
      });
    },
  );
});

type Choices = Pick<MadeChainSettings, "blocks" | "transactions" | "validators"> & {
  readonly reward?: bigint;
};

/** Bytes by kind that one of `count` blocks or transactions adds. */
async function addedBetween(
  less: Choices,
  more: Choices,
  count: number,
): Promise<ReadonlyMap<string, number>> {
  return addedBytes(await bytesOf(less), await bytesOf(more), count);
}

async function bytesOf(choices: Choices) {
  const { dataPath } = await makeChain({
    folder: temporaryFolder(),
    reward: 0n,
    seed: 1,
    spread: "even",
    ...choices,
  });
  return diskBytesOf(dataPath);
}

/** Kinds that are not named may have a byte. */
function expectBytes(added: ReadonlyMap<string, number>, expected: Readonly<Record<string, number>>): void {
  const wrong = [...added].filter(([kind, bytes]) => {
    const documented = expected[kind] ?? 0;
    return Math.abs(bytes - documented) > Math.max(1, TOLERANCE * documented);
  });
  expect(wrong, "kinds with other sizes than documented").toEqual([]);
  expect([...added.keys()]).toEqual(expect.arrayContaining(Object.keys(expected)));
}
