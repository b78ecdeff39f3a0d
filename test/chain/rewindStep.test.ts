import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { DEV_GENESIS_FILE, DEV_VALIDATOR_KEY } from "../../src/config/devNetwork.ts";
import { addressOfPrivateKey, sign } from "../../src/primitives/secp256k1.ts";
import { createMemoryDatabase } from "../../src/storage/memoryDatabase.ts";
import { aChain } from "../builders/aChain.ts";
import { createHandClock } from "../builders/handClock.ts";

it("moves the head in the same turn as the caches below it, so that no reader sees the one without the other", async () => {
  const memory = createMemoryDatabase();
  const seen: bigint[] = [];
  const database = {
    ...memory,
    freeze() {
      const reads = memory.freeze();
      return {
        release() {
          reads.release();
          queueMicrotask(() => seen.push(chain.head.header.number));
        },
      };
    },
  };
  const { chain } = await aChain({
    genesis: readFileSync(DEV_GENESIS_FILE, "utf8"),
    database,
    clock: createHandClock(1_800_000_060_000),
    builder: addressOfPrivateKey(DEV_VALIDATOR_KEY),
  });
  const empty = {
    select: () => ({ next: () => undefined, skipSender: () => undefined }),
    drop: () => undefined,
  };
  for (let number = 1n; number <= 3n; number++) {
    const built = await chain.build(
      { parent: chain.head, round: 0, timestamp: 1_800_000_000n + number },
      empty,
    );
    if (!built.ok) throw new Error(built.error.message);
    await chain.commit(built.value, [sign(built.value.digest, DEV_VALIDATOR_KEY)]);
  }
  await chain.rewind(1n);
  expect(seen).toEqual([1n]);
});
