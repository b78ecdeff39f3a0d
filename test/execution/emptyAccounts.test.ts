import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { loadInterpreter } from "../../src/execution/blockSession.ts";
import { executeBlock } from "../../src/execution/executeBlock.ts";
import { precompileAddress } from "../../src/execution/precompiles/addresses.ts";
import { NEVER_YIELD } from "../../src/execution/yieldPolicy.ts";
import { type Address, addressFromHex, ZERO_ADDRESS } from "../../src/primitives/address.ts";
import { hexToBytes, toDigits, toHex } from "../../src/primitives/hex.ts";
import type { Overlay } from "../../src/state/overlay.ts";
import { aChain } from "../builders/aChain.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { account, accountFromSeed } from "../builders/testAccounts.ts";
import { blocksOfFile } from "../conformance/chains/blockFile.ts";
import { describeWithVectors, vectorPath } from "../vectors.ts";
import { anOverlay, contractAt, ETHER, executed, theRules } from "./context.ts";

/** An empty account of the genesis, as in besu-emptyaccount, and another one that no rule names. */
const RIPEMD160 = precompileAddress(3);
const OTHER = addressFromHex("0x00000000000000000000000000000000000000ee");

beforeAll(loadInterpreter);

describeWithVectors("an empty account that a failed transaction touched", () => {
  it.each(["7-london-directOog", "10-london-top-touchRevert", "11-london-top-oog"])(
    "stays, as Besu has it: besu-emptyaccount/%s",
    async (name) => {
      const folder = `besu-emptyaccount/${name}`;
      // Besu about the last block: the state root that it computed instead of the block's.
      const answer = readFileSync(vectorPath(folder, "besu-says.txt"), "utf8");
      const [, expected, root] = /expected=(\w+), actual=(\w+)/.exec(answer) ?? [];
      const { chain } = await aChain({ genesis: readFileSync(vectorPath(folder, "genesis.json"), "utf8") });
      let refusal: string | undefined;
      for (const block of blocksOfFile(`${folder}/chain.rlp`)) {
        if (block.header.number === 0n || refusal !== undefined) continue;
        const imported = await chain.importBlock(block);
        if (!imported.ok) refusal = `${block.header.number} ${imported.error.code} ${imported.error.message}`;
      }
      const number = /Invalid block (\d+)/.exec(answer)?.[1];
      expect(refusal).toBe(`${number} wrongStateRoot state root is ${root}, the header says ${expected}`);
    },
  );
});

/** CALL with all gas and no value, as hex of an address; pops the result. */
const touch = (address: Address): string => `5f5f5f5f5f73${toDigits(address)}5af150`;
const fail = "5f5ffd";
const INVALID = "fe";

function withEmptyAccounts(contracts: Parameters<typeof anOverlay>[0] = []): Overlay {
  return anOverlay([[RIPEMD160, {}], [OTHER, {}], ...contracts]);
}

function emptyIn(overlay: Overlay): readonly string[] {
  const names = [["ripemd160", RIPEMD160] as const, ["other", OTHER] as const];
  return names.filter(([, address]) => overlay.account(address) !== undefined).map(([name]) => name);
}

const both = touch(RIPEMD160) + touch(OTHER);

describe("empty accounts that a transaction touched", () => {
  it.each([
    { title: "go where all succeeds", codes: [both], stay: [] },
    { title: "stay where the outermost message reverts", codes: [both + fail], stay: ["ripemd160", "other"] },
    { title: "stay where it halts", codes: [both + INVALID], stay: ["ripemd160", "other"] },
    {
      title: "stay where it reverts after an inner message that reverted",
      codes: [touch(contractAt(2)) + fail, both + fail],
      stay: ["ripemd160", "other"],
    },
    {
      title: "stay after an inner message reverted, except for RIPEMD-160's",
      codes: [touch(contractAt(2)), both + fail],
      stay: ["other"],
    },
    {
      title: "stay after an inner message reverted in one that reverted, RIPEMD-160's too",
      codes: [touch(contractAt(2)), touch(contractAt(3)) + fail, both + fail],
      stay: ["ripemd160", "other"],
    },
    {
      title: "stay so also where the one around had touched RIPEMD-160's before",
      codes: [touch(contractAt(2)), touch(RIPEMD160) + touch(contractAt(3)) + fail, both + fail],
      stay: ["ripemd160", "other"],
    },
    {
      title: "go where the one around touches RIPEMD-160's again",
      codes: [touch(contractAt(2)), touch(contractAt(3)) + touch(RIPEMD160) + fail, both + fail],
      stay: ["other"],
    },
    {
      title: "go with a message that succeeds around one that reverted",
      codes: [touch(contractAt(2)), touch(contractAt(3)), both + fail],
      stay: ["other"],
    },
    {
      title: "stay where they are not empty when the inner message fails",
      // Sends one wei to RIPEMD-160's after the touch.
      codes: [touch(contractAt(2)), `${both}5f5f5f5f600160035af150${fail}`],
      stay: ["ripemd160", "other"],
      balance: 1n,
    },
  ])("$title", async ({ codes, stay, balance = 0n }) => {
    const contracts = codes.map(
      (code, index) => [contractAt(index + 1), { code: `0x${code}`, balance }] as const,
    );
    const overlay = withEmptyAccounts(contracts);
    const call = aTransaction({ to: contractAt(1), value: 0n, gasLimit: 500_000n });
    await executed("shanghai", overlay, call);
    expect(emptyIn(overlay)).toEqual(stay);
  });

  it("stay where the call itself runs out of gas", async () => {
    const overlay = withEmptyAccounts();
    await executed("london", overlay, aTransaction({ to: RIPEMD160, value: 0n, gasLimit: 21_100n }));
    expect(emptyIn(overlay)).toContain("ripemd160");
  });

  it.each([0n, 5n])("stay where a creation with %i wei reverts", async (value) => {
    const overlay = withEmptyAccounts();
    const data = hexToBytes(`0x${both}${fail}`);
    const { outcome } = await executed(
      "shanghai",
      overlay,
      aTransaction({ to: undefined, value, data, gasLimit: 500_000n }),
    );
    expect(outcome.kind).toBe("reverted");
    expect(emptyIn(overlay)).toEqual(["ripemd160", "other"]);
    const created = addressFromHex("0x5fbdb2315678afecb367f032d93f642f64180aa3");
    expect(overlay.account(created)).toBeUndefined();
  });

  it("go as beneficiary of a failed transaction without a price, which makes no account where there was none", async () => {
    for (const beneficiary of [OTHER, ZERO_ADDRESS]) {
      const overlay = withEmptyAccounts([[contractAt(1), { code: "0xfe" }]]);
      const call = aTransaction({ to: contractAt(1), value: 0n, gasPrice: 0n, gasLimit: 50_000n });
      const block = await executeBlock(theRules("london", { beneficiary }), [call], overlay, {
        yieldPolicy: NEVER_YIELD,
      });
      expect(block.ok).toBe(true);
      expect([toHex(beneficiary), overlay.account(beneficiary)]).toEqual([toHex(beneficiary), undefined]);
    }
  });

  it("keep the sender, whose nonce has risen, also one that has nothing and was not there", async () => {
    const poor = accountFromSeed(77);
    for (const [privateKey, address] of [
      [poor.privateKey, poor.address],
      [account(3).privateKey, account(3).address],
    ] as const) {
      const overlay = withEmptyAccounts([[contractAt(1), { code: `0x${both}${fail}` }]]);
      const balance = overlay.account(address)?.balance ?? 0n;
      await executed(
        "london",
        overlay,
        aTransaction({ to: contractAt(1), value: 0n, gasPrice: 0n, gasLimit: 100_000n, privateKey }),
      );
      expect(overlay.account(address)).toMatchObject({ nonce: 1n, balance });
      expect(balance).toBe(address === poor.address ? 0n : 10n * ETHER);
    }
  });
});
