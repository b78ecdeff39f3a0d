import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseGenesis } from "../../src/chainspec/genesis.ts";
import { DEV_GENESIS_FILE } from "../../src/config/devNetwork.ts";
import { systemClock } from "../../src/primitives/clock.ts";
import { DEFAULT_TX_POOL_LIMITS } from "../../src/txpool/limits.ts";
import { type MadeUpChain, openMadeUpChain } from "../../src/warmup/madeUpChain.ts";
import { recoverSignersHere } from "../builders/recoverSignersHere.ts";

const BERLIN = {
  berlinBlock: 0,
  ...{ londonBlock: undefined, shanghaiTime: undefined, cancunTime: undefined, pragueTime: undefined },
};

function openOn(genesis: object): Promise<MadeUpChain> {
  const parsed = parseGenesis(JSON.stringify(genesis), "the test's genesis", {
    consensus: "ibft2",
    minGasPriceWei: 1000n,
  });
  if (!parsed.ok) throw new Error(parsed.error.message);
  return openMadeUpChain({
    spec: parsed.value,
    head: parsed.value.genesis.header,
    clock: systemClock,
    poolLimits: DEFAULT_TX_POOL_LIMITS,
    production: {
      selectionTimePercent: 75,
      minOccupancyRatio: 0.8,
      maxBlockBytes: Number.POSITIVE_INFINITY,
      targetGasLimit: undefined,
      keepsRevertReasons: false,
    },
    recoverSigners: recoverSignersHere,
    cpuMs: () => 0,
    threadTimes: () => undefined,
  });
}

const dev = JSON.parse(readFileSync(DEV_GENESIS_FILE, "utf8")) as { readonly config: object };

describe("the made-up chain", () => {
  it.each([
    ["of the development network", dev],
    [
      "with a base fee",
      { ...dev, config: { ...dev.config, zeroBaseFee: false }, baseFeePerGas: "0x3b9aca00" },
    ],
    ["before London", { ...dev, baseFeePerGas: undefined, config: { ...dev.config, ...BERLIN } }],
  ])("takes each transfer to a block, by the rules %s", async (_, genesis) => {
    const chain = await openOn(genesis);
    for (const [index, count] of [1, 3, 40].entries()) {
      await chain.offer(count);
      await chain.build();
      expect(chain.headNumber).toBe(BigInt(index + 1));
      expect(chain.transactions).toBe(count);
    }
  });
});
