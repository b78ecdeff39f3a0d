import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { DEV_GENESIS_FILE, DEV_VALIDATOR_KEY } from "../../../src/config/devNetwork.ts";
import { addressOfPrivateKey } from "../../../src/primitives/secp256k1.ts";
import { aChain } from "../../builders/aChain.ts";
import { createHandClock } from "../../builders/handClock.ts";
import { commitBlock } from "../../builders/sealedChain.ts";
import { requesterOf } from "../requester.ts";

interface Config {
  readonly activationTime: number;
  readonly blobSchedule: object | null;
  readonly chainId: string;
  readonly forkId: string;
  readonly precompiles: Record<string, string>;
  readonly systemContracts: Record<string, string>;
}

interface Configs {
  readonly current: Config;
  readonly next: Config | null;
  readonly last: Config | null;
}

const START_SECONDS = 1_700_000_000;

/** What a node answers with these forks, on a chain of so many blocks, one a second. */
async function configsOf(forks: Record<string, number>, blocks: number): Promise<Configs> {
  const genesis = JSON.parse(readFileSync(DEV_GENESIS_FILE, "utf8")) as { config: Record<string, unknown> };
  const config = Object.fromEntries(
    Object.entries(genesis.config).filter(([key]) => !/(block|time)$/i.test(key)),
  );
  const clock = createHandClock(START_SECONDS * 1000);
  const node = await aChain({
    genesis: JSON.stringify({ ...genesis, config: { ...config, ...forks } }),
    clock,
    builder: addressOfPrivateKey(DEV_VALIDATOR_KEY),
  });
  for (let index = 1; index <= blocks; index++) {
    clock.advanceTo((START_SECONDS + index) * 1000);
    await commitBlock(node.chain, BigInt(START_SECONDS + index), []);
  }
  return (await requesterOf(node)("eth_config")) as Configs;
}

/** The only system contract that the genesis block of the development network has. */
const HISTORY = { HISTORY_STORAGE_ADDRESS: "0x0000f90827f1c53a10cb7a02335b175320002935" };

describe("eth_config (EIP-7910)", () => {
  it("shows the rules of the genesis block as active from 0 on, and null for forks that are not planned", async () => {
    const { current, next, last } = await configsOf({ berlinBlock: 0, londonBlock: 0 }, 0);
    expect({ next, last }).toEqual({ next: null, last: null });
    expect(current).toMatchObject({ activationTime: 0, blobSchedule: null, systemContracts: {} });
    expect(current.chainId).toMatch(/^0x[1-9a-f][0-9a-f]*$/);
    expect(current.forkId).toMatch(/^0x[0-9a-f]{8}$/);
    expect(Object.keys(current.precompiles)).toEqual([
      "BLAKE2F",
      "BN254_ADD",
      "BN254_MUL",
      "BN254_PAIRING",
      "ECREC",
      "ID",
      "MODEXP",
      "RIPEMD160",
      "SHA256",
    ]);
    expect(current.precompiles.BLAKE2F).toBe("0x0000000000000000000000000000000000000009");
  });

  it("shows the next and the last fork by time, each with its whole configuration", async () => {
    const [cancunTime, pragueTime] = [START_SECONDS + 100, START_SECONDS + 200];
    const { current, next, last } = await configsOf(
      { londonBlock: 0, shanghaiTime: 0, cancunTime, pragueTime },
      1,
    );
    expect(current).toMatchObject({ activationTime: 0, blobSchedule: null });
    expect(next).toMatchObject({
      activationTime: cancunTime,
      blobSchedule: { baseFeeUpdateFraction: 3_338_477, max: 6, target: 3 },
      systemContracts: {},
    });
    expect(next?.precompiles.KZG_POINT_EVALUATION).toBe("0x000000000000000000000000000000000000000a");
    expect(last).toMatchObject({
      activationTime: pragueTime,
      blobSchedule: { baseFeeUpdateFraction: 5_007_716, max: 9, target: 6 },
    });
    expect(last?.systemContracts).toEqual(HISTORY);
    expect(Object.keys(last?.precompiles ?? {})).toHaveLength(17);
    expect(new Set([current, next, last].map((config) => config?.forkId)).size).toBe(3);
  });

  it("moves on once a fork is active, with its time", async () => {
    const [shanghaiTime, cancunTime] = [START_SECONDS + 2, START_SECONDS + 9];
    const before = await configsOf({ londonBlock: 0, shanghaiTime, cancunTime }, 1);
    const after = await configsOf({ londonBlock: 0, shanghaiTime, cancunTime }, 2);
    expect(before.current.activationTime).toBe(0);
    expect(before.next).toEqual(after.current);
    expect(after.current.activationTime).toBe(shanghaiTime);
    expect([before.last, after.next, after.last]).toEqual([after.last, after.last, before.last]);
  });

  it("shows a fork by block number once it is active, since its block's time", async () => {
    const before = await configsOf({ berlinBlock: 0, londonBlock: 2 }, 1);
    expect(before).toMatchObject({ current: { activationTime: 0 }, next: null, last: null });
    const after = await configsOf({ berlinBlock: 0, londonBlock: 2 }, 3);
    expect(after).toMatchObject({ current: { activationTime: START_SECONDS + 2 }, next: null, last: null });
    expect(after.current.forkId).not.toBe(before.current.forkId);
  });
});
