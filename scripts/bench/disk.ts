import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addedBytes, type DiskBytes, diskBytesOf } from "../../test/builders/diskBytes.ts";
import { makeChain } from "../../test/builders/madeChain.ts";

const REWARD = 2n * 10n ** 18n;
/** Transactions in each block; there are as many blocks as 100,000 transactions fill. */
const FILLED = [10, 20, 50, 100, 200, 500, 1000];
const TRANSACTIONS = 100_000;

/** Prints what blocks and transactions take on disk, by kind, for docs/operating/sizing.md. */
export async function measureDisk(): Promise<void> {
  for (const validators of [4, 7, 20])
    for (const reward of [0n, REWARD]) {
      const less = await bytesOf({ validators, reward, blocks: 100, transactions: 0 });
      const more = await bytesOf({ validators, reward, blocks: 900, transactions: 0 });
      const name = `an empty block of ${validators} validators${reward === 0n ? "" : ", with a reward"}`;
      print(name, addedBytes(less.bytes, more.bytes, 800));
    }
  for (const perBlock of FILLED) {
    const blocks = TRANSACTIONS / perBlock;
    const chain = { validators: 4, reward: 0n, blocks };
    const less = await bytesOf({ ...chain, transactions: 0 });
    const more = await bytesOf({ ...chain, transactions: TRANSACTIONS });
    print(`a transaction, ${perBlock} in each block`, addedBytes(less.bytes, more.bytes, more.transactions));
    const plain = more.bytes.kinds.reduce((sum, [, bytes]) => sum + bytes, 0);
    console.log(
      `  files are ${((100 * more.bytes.files) / plain - 100).toFixed(0)} % larger than what is in them`,
    );
  }
}

async function bytesOf(settings: {
  readonly validators: number;
  readonly reward: bigint;
  readonly blocks: number;
  readonly transactions: number;
}): Promise<{ readonly bytes: DiskBytes; readonly transactions: number }> {
  const folder = mkdtempSync(join(tmpdir(), "ibex-disk-"));
  try {
    const { dataPath, transactions } = await makeChain({ ...settings, folder, seed: 1, spread: "even" });
    return { bytes: await diskBytesOf(dataPath), transactions };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function print(what: string, kinds: ReadonlyMap<string, number>): void {
  const sum = [...kinds.values()].reduce((all, bytes) => all + bytes, 0);
  const parts = [...kinds]
    .filter(([, bytes]) => bytes >= 1)
    .map(([kind, bytes]) => `${kind} ${bytes.toFixed(0)}`);
  console.log(`${what}: ${sum.toFixed(0)} bytes: ${parts.join(", ")}`);
}
