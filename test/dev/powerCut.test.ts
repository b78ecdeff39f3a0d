import { expect, it } from "vitest";
import type { Development } from "../../src/dev/development.ts";
import { toHex } from "../../src/primitives/hex.ts";
import { createForgetfulDisk } from "../builders/forgetfulDisk.ts";
import { account } from "../builders/testAccounts.ts";
import { generator } from "../storage/random.ts";
import { aDevelopmentChain } from "./aDevelopmentChain.ts";

/** What a suite of a builder does to the chain: blocks, altered states, and going back. */
async function changeCourse(development: Development, steps: number, random: ReturnType<typeof generator>) {
  let snapshot = await development.snapshot();
  for (let step = 0; step < steps; step++) {
    const kind = random.below(4);
    if (kind === 0) {
      const balanceWei = BigInt(step);
      await development.alter([{ kind: "balance", address: account(1).address, balanceWei }]);
    } else if (kind === 1 && snapshot.ok) {
      await development.revert(snapshot.value);
      snapshot = await development.snapshot();
    } else await development.mine({ blocks: 1 + random.below(3) });
  }
}

it.each([1, 2, 3, 4, 5, 6])(
  "opens after a power cut with a chain that was there at some moment, and goes on (seed %i)",
  async (seed) => {
    const random = generator(seed);
    let disk = createForgetfulDisk({ seed });
    let before: { dataPath: string; database: typeof disk.database } | undefined;
    const heads = new Set<string>();
    for (let cut = 0; cut < 3; cut++) {
      const lost: string[] = [];
      const onUnsyncedLoss = (what: string): void => void lost.push(what);
      const { chain, development, dataPath, failures } = await aDevelopmentChain({
        ...(before !== undefined && { before }),
        disk,
        onUnsyncedLoss,
      });
      const isKnown = heads.size === 0 || heads.has(toHex(chain.head.hash));
      expect(isKnown, `a head that nobody has seen; ${lost.join(" ")}`).toBe(true);
      heads.add(toHex(chain.head.hash));
      chain.onHeadChanged("metrics", ({ head }) => void heads.add(toHex(head.hash)));
      await changeCourse(development, 12, random);
      expect(failures).toEqual([]);
      disk = disk.powerCut();
      before = { dataPath, database: disk.database };
    }
  },
);

it("loses nothing once it was closed", async () => {
  const disk = createForgetfulDisk({ seed: 7 });
  const { chain, development } = await aDevelopmentChain({ disk });
  await changeCourse(development, 12, generator(7));
  const { head } = chain;
  await development.close();
  const lost: string[] = [];
  const after = disk.powerCut();
  const again = await aDevelopmentChain({ disk: after, onUnsyncedLoss: (what) => void lost.push(what) });
  expect(toHex(again.chain.head.hash)).toBe(toHex(head.hash));
  expect(lost).toEqual([]);
});
