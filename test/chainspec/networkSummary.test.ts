import { expect, it } from "vitest";
import { parseGenesis } from "../../src/chainspec/genesis.ts";
import { networkSummary } from "../../src/chainspec/networkSummary.ts";
import { addressFromHex } from "../../src/primitives/address.ts";
import { ZERO_HASH } from "../../src/primitives/hash.ts";
import { genesisWith } from "../builders/genesisWith.ts";

it("summarizes a genesis file: chain id, validators, block period, forks, transitions", () => {
  const text = genesisWith({
    chainId: 77,
    berlinBlock: 0,
    londonBlock: 5,
    shanghaiTime: 1_900_000_000,
    cancunTime: 1_900_000_001,
    ibft2: { blockperiodseconds: 2, epochlength: 100, requesttimeoutseconds: 4 },
    transitions: { ibft2: [{ block: 9, blockperiodseconds: 1 }] },
  });
  const spec = parseGenesis(text, "net.json");
  if (!spec.ok) throw new Error(spec.error.message);
  expect(networkSummary(spec.value, ZERO_HASH)).toMatchObject({
    chainId: 77n,
    genesisHash: ZERO_HASH,
    validators: [addressFromHex("0x4642e184a9ff69dc05a49c4ce7c5286955312977")],
    blockPeriodSeconds: 2,
    requestTimeoutSeconds: 4,
    epochLength: 100n,
    forks: expect.stringMatching(
      /berlin at block 0, london at block 5, shanghai at time 1900000000, cancun at time 1900000001/,
    ),
    transitions: [9n],
  });
});
