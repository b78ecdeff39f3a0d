import { describe, expect, it } from "vitest";
import type { ChainSpec } from "../../src/chainspec/chainSpec.ts";
import { parseGenesis } from "../../src/chainspec/genesis.ts";
import { differencesUpTo, storedConfigOf } from "../../src/chainspec/storedChainConfig.ts";

function aSpec(config: Record<string, unknown> = {}, ibft2: Record<string, unknown> = {}): ChainSpec {
  const text = JSON.stringify({
    config: { chainId: 1337, londonBlock: 0, ibft2: { requesttimeoutseconds: 10, ...ibft2 }, ...config },
    extraData: `0xf83ea0${"00".repeat(32)}d594${"11".repeat(20)}808400000000c0`,
    gasLimit: "0x1000000",
    difficulty: "0x1",
  });
  const outcome = parseGenesis(text, "net.json");
  if (!outcome.ok) throw new Error(outcome.error.message);
  return outcome.value;
}

const head = { number: 100n, timestamp: 5000n };

function differences(stored: ChainSpec, given: ChainSpec) {
  // As in the node, one of the two comes from a file.
  const kept = JSON.parse(JSON.stringify(storedConfigOf(stored))) as ReturnType<typeof storedConfigOf>;
  return differencesUpTo(head, { stored: kept, given: storedConfigOf(given) });
}

describe("a stored chain configuration", () => {
  it("has no differences from an equal one", () => {
    expect(differences(aSpec(), aSpec())).toEqual([]);
  });

  it("names differences that affect existing blocks", () => {
    const given = aSpec(
      { chainId: 7, shanghaiTime: 5000, transitions: { ibft2: [{ block: 100, blockreward: "3" }] } },
      { epochlength: 10, blockreward: "2" },
    );
    expect(differences(aSpec(), given)).toEqual([
      { name: "chainId", stored: "1337", given: "7" },
      { name: "ibft2.epochlength", stored: "30000", given: "10" },
      { name: "ibft2.blockreward from block 0", stored: "0", given: "2" },
      { name: "fork shanghai", stored: "absent", given: "time 5000" },
      { name: "ibft2.blockreward from block 100", stored: "absent", given: "3" },
      { name: "ibft2.miningbeneficiary from block 100", stored: "absent", given: "none" },
      { name: "ibft2.validators from block 100", stored: "absent", given: "by votes" },
    ]);
  });

  it("allows changes after the head, and a new block period, as running networks have made", () => {
    const given = aSpec(
      { shanghaiTime: 5001, transitions: { ibft2: [{ block: 101, blockreward: "3" }] } },
      { blockperiodseconds: 2, requesttimeoutseconds: 4 },
    );
    expect(differences(aSpec(), given)).toEqual([]);
  });
});
